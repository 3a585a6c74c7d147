#include "lib/polynomial/linear_entries.hpp"

#include "jit/compile/digest.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/base/struct_size.hpp"
#include "lib/input/digest.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace libperm {
namespace {

std::vector<std::int64_t> kept_counts(const std::int64_t *given, std::int64_t lines) {
    return given ? std::vector<std::int64_t>(given, given + lines) : std::vector<std::int64_t>();
}

InputPattern without_weights(InputPattern given) {
    given.row_weights = given.col_weights = false;
    if (!given.source.empty()) given.source.resize(at(given.pattern.nnz()));
    return given;
}

// What is at fault is told of the linear parts.
Values read_linear(const InputPattern &given, const void *linear, const Poll &poll, MemoryAccount &account) {
    if (given.pattern.nnz() > 0 && !linear)
        throw Error(PERM_BAD_ARGUMENT, "linear is a null pointer: it holds a number for each entry");
    try {
        return read_values(without_weights(given), linear, poll, &account);
    } catch (const Error &error) {
        if (error.status() != PERM_BAD_MATRIX) throw;
        throw Error(PERM_BAD_MATRIX, std::string("linear: ") + error.what());
    }
}

} // namespace

LinearEntries::LinearEntries(const perm_csr *a, const void *linear_parts, RunControl &control) {
    const Poll poll = [&control] { control.poll(); };
    input = read_pattern(a, poll, &control.memory());
    if (input.value_type == PERM_VALUE_PATTERN)
        throw Error(
            PERM_BAD_ARGUMENT,
            "a pattern has no values, and c + l x takes two numbers: give both, of another value_type");
    const perm_csr csr = read_known(*a, offsetof(perm_csr, row_multiplicity), "perm_csr");
    row_counts_ = kept_counts(csr.row_multiplicity, csr.n_rows);
    column_counts_ = kept_counts(csr.col_multiplicity, csr.n_cols);
    const InputPattern &given = as_given(input);
    constant = read_values(given, GivenValues(input, csr).data(), poll, &control.memory());
    linear = read_linear(given, linear_parts, poll, control.memory());
    count = std::min(row_count().sum(), column_count().sum()) + 1;
    degree = degree_found();
    digest = digest_of_bytes(written(given.pattern.row_ptr) + written(given.pattern.col) +
                             written(std::vector<std::int64_t>{given.pattern.rows, given.pattern.cols,
                                                               given.row_weights, given.col_weights}) +
                             written(row_counts_) + written(column_counts_) + digest_of(constant) +
                             digest_of(linear));
}

LineCounts LinearEntries::row_count() const {
    return {row_counts_.empty() ? nullptr : row_counts_.data(), as_given(input).pattern.rows, "row"};
}

LineCounts LinearEntries::column_count() const {
    return {column_counts_.empty() ? nullptr : column_counts_.data(), as_given(input).pattern.cols, "col"};
}

// As many entries with x as rows and as columns have some.
std::int64_t LinearEntries::degree_found() const {
    const Pattern &a = as_given(input).pattern;
    const LineCounts rows = row_count(), columns = column_count();
    std::vector<char> has(at(a.cols));
    std::int64_t in_rows = 0, in_columns = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        bool some = false;
        for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k)
            if (!is_zero(linear_at(at(k)))) {
                some = true;
                has[at(a.col[at(k)])] = 1;
            }
        if (some) in_rows += rows[i];
    }
    for (std::int32_t j = 0; j < a.cols; ++j)
        if (has[at(j)]) in_columns += columns[j];
    return std::min({in_rows, in_columns, count - 1});
}

InputPattern LinearEntries::input_of(perm_value_type type) const {
    InputPattern other = input;
    InputPattern given = as_given(input);
    given.source.clear();
    given.value_type = other.value_type = type;
    if (!input.written) return given;
    other.written = std::make_shared<const InputPattern>(std::move(given));
    return other;
}

} // namespace libperm
