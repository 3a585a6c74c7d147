#include "lib/polynomial/substitution.hpp"

#include "jit/compile/digest.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/base/struct_size.hpp"
#include "lib/input/digest.hpp"
#include "lib/input/graph.hpp"
#include "lib/saved/bytes.hpp"

#include <algorithm>
#include <cmath>
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

LinearEntries::LinearEntries(const perm_csr *a, const void *linear_parts, MatrixFunction function,
                             RunControl &control) {
    const Poll poll = [&control] { control.poll(); };
    input = read_pattern(a, function, poll, &control.memory());
    if (input.value_type == PERM_VALUE_PATTERN)
        throw Error(
            PERM_BAD_ARGUMENT,
            "a pattern has no values, and c + l x takes two numbers: give both, of another value_type");
    const perm_csr csr = read_known(*a, offsetof(perm_csr, row_multiplicity), "perm_csr");
    row_counts_ = kept_counts(csr.row_multiplicity, csr.n_rows);
    const bool is_graph = input.pattern.one_sided;
    column_counts_ = is_graph ? row_counts_ : kept_counts(csr.col_multiplicity, csr.n_cols);
    const InputPattern &given = as_given(input);
    constant = read_values(given, GivenValues(input, csr).data(), poll, &control.memory());
    linear = read_linear(given, linear_parts, poll, control.memory());
    count = std::min(row_count().sum(), column_count().sum()) + 1;
    if (is_graph) {
        for (Values *half : {&constant, &linear}) { // c + l x is symmetric, then, whatever cancels
            require_symmetric(given, *half, poll);
            mirror_upper_half(given, *half, poll);
        }
        if (function == MatrixFunction::hafnian && !input.written->row_weights) count = (count - 1) / 2 + 1;
        degree = count - 1;
    } else {
        find_powers(poll);
    }
    digest = digest_of_bytes(written(given.pattern.row_ptr) + written(given.pattern.col) +
                             written(std::vector<std::int64_t>{given.pattern.rows, given.pattern.cols,
                                                               given.row_weights, given.col_weights}) +
                             written(row_counts_) + written(column_counts_) + function_name(function) +
                             digest_of(constant) + digest_of(linear));
}

LineCounts LinearEntries::row_count() const {
    return {row_counts_.empty() ? nullptr : row_counts_.data(), as_given(input).pattern.rows, "row"};
}

LineCounts LinearEntries::column_count() const {
    return {column_counts_.empty() ? nullptr : column_counts_.data(), as_given(input).pattern.cols, "col"};
}

// As many entries with x as rows and as columns have some; no fewer than lines that have nothing else, and
// no weight.
void LinearEntries::find_powers(const Poll &poll) {
    PolledSteps steps(poll);
    const InputPattern &given = as_given(input);
    const Pattern &a = given.pattern;
    const LineCounts rows = row_count(), columns = column_count();
    std::vector<char> has_linear(at(a.cols)), has_constant(at(a.cols));
    std::int64_t in_rows = 0, in_columns = 0, only_in_rows = 0, only_in_columns = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        bool some_linear = false, some_constant = false;
        for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
            const std::size_t j = at(a.col[at(k)]);
            steps.take(64);
            if (!is_zero(linear_at(at(k)))) has_linear[j] = some_linear = true;
            if (!is_zero(constant_at(at(k)))) has_constant[j] = some_constant = true;
        }
        if (some_linear) in_rows += rows[i];
        if (!some_constant) only_in_rows += rows[i];
    }
    for (std::int32_t j = 0; j < a.cols; ++j) {
        if (has_linear[at(j)]) in_columns += columns[j];
        if (!has_constant[at(j)]) only_in_columns += columns[j];
    }
    degree = std::min({in_rows, in_columns, count - 1});
    const bool may_stay = given.row_weights || given.col_weights || rows.sum() != columns.sum();
    lowest = may_stay ? 0 : std::max(only_in_rows, only_in_columns);
}

std::int64_t LinearEntries::balanced_radius(const Poll &poll) const {
    PolledSteps steps(poll);
    const Pattern &a = as_given(input).pattern;
    const auto size = [](const Gaussian &x) { return std::abs(x.re.get_d()) + std::abs(x.im.get_d()); };
    double sum = 0, rows = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        double of_constant = 0, of_linear = 0;
        for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
            steps.take(64);
            of_constant += size(constant_at(at(k)));
            of_linear += size(linear_at(at(k)));
        }
        if (of_constant == 0 || of_linear == 0) continue;
        sum += std::log2(of_constant) - std::log2(of_linear);
        ++rows;
    }
    return rows == 0 || !std::isfinite(sum) ? 0 : static_cast<std::int64_t>(std::round(sum / rows));
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

Plan plan_for(InputPattern input, const Values &values, const Options &options, RunControl &control,
              const std::string *plan) {
    if (!plan) return make_plan(std::move(input), options, values, control);
    Plan saved = plan_of(*plan, options);
    if (difference(saved.input, input))
        throw Error(PERM_BAD_ARGUMENT, "the plan that this was begun with is of another matrix: begin anew");
    return saved;
}

} // namespace libperm
