#include "lib/matrix.hpp"

#include "lib/error.hpp"
#include "lib/struct_size.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace libperm {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

[[noreturn]] void bad_matrix(const std::string &text) { throw Error(PERM_BAD_MATRIX, text); }

template <class Index> std::int64_t load(const void *array, std::int64_t k) {
    return static_cast<std::int64_t>(static_cast<const Index *>(array)[k]);
}

template <class Index> InputPattern read_as(const perm_csr &a) {
    InputPattern input;
    Pattern &p = input.pattern;
    const std::int64_t n = a.n_rows;
    if (n > 0) {
        if (load<Index>(a.row_ptr, 0) != 0)
            bad_matrix(fmt::format("row_ptr[0] is {}, it must be 0 (indices are zero-based)",
                                   load<Index>(a.row_ptr, 0)));
        for (std::int64_t i = 0; i < n; ++i)
            if (load<Index>(a.row_ptr, i + 1) < load<Index>(a.row_ptr, i))
                bad_matrix(fmt::format("row_ptr decreases from {} to {} at row {}", load<Index>(a.row_ptr, i),
                                       load<Index>(a.row_ptr, i + 1), i));
        if (load<Index>(a.row_ptr, n) != a.nnz)
            bad_matrix(fmt::format("row_ptr ends at {}, but nnz is {}", load<Index>(a.row_ptr, n), a.nnz));
    } else if (a.nnz != 0) {
        bad_matrix(fmt::format("a matrix of 0 rows cannot have nnz = {}", a.nnz));
    }
    p.rows = p.cols = static_cast<std::int32_t>(n);
    p.row_ptr.assign(at(n) + 1, 0);
    for (std::int64_t i = 0; i < n; ++i) p.row_ptr[at(i) + 1] = load<Index>(a.row_ptr, i + 1);

    p.col.resize(at(a.nnz));
    bool sorted = true;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = p.row_ptr[at(i)]; k < p.row_ptr[at(i) + 1]; ++k) {
            const std::int64_t j = load<Index>(a.col_idx, k);
            if (j < 0 || j >= n)
                bad_matrix(fmt::format("col_idx[{}] is {} in row {}: columns must lie in 0..{} (zero-based)",
                                       k, j, i, n - 1));
            p.col[at(k)] = static_cast<std::int32_t>(j);
            sorted = sorted && (k == p.row_ptr[at(i)] || p.col[at(k) - 1] < p.col[at(k)]);
        }
    if (sorted) return input;

    input.entry_order.resize(at(a.nnz));
    std::iota(input.entry_order.begin(), input.entry_order.end(), std::int64_t{0});
    std::vector<std::int32_t> col(at(a.nnz));
    for (std::int64_t i = 0; i < n; ++i) {
        const auto begin = input.entry_order.begin() + p.row_ptr[at(i)];
        const auto end = input.entry_order.begin() + p.row_ptr[at(i) + 1];
        std::sort(begin, end, [&p](std::int64_t x, std::int64_t y) { return p.col[at(x)] < p.col[at(y)]; });
        for (std::int64_t k = p.row_ptr[at(i)]; k < p.row_ptr[at(i) + 1]; ++k) {
            col[at(k)] = p.col[at(input.entry_order[at(k)])];
            if (k > p.row_ptr[at(i)] && col[at(k)] == col[at(k) - 1])
                bad_matrix(fmt::format("duplicate entry: row {} holds column {} twice; add the two up first",
                                       i, col[at(k)]));
        }
    }
    p.col = std::move(col);
    return input;
}

} // namespace

InputPattern read_pattern(const perm_csr *a) {
    if (!a) throw Error(PERM_BAD_ARGUMENT, "the matrix is a null pointer");
    read_known(*a, sizeof(perm_csr), "perm_csr");
    if (a->n_rows < 0 || a->n_cols < 0 || a->nnz < 0)
        bad_matrix(
            fmt::format("negative size: n_rows = {}, n_cols = {}, nnz = {}", a->n_rows, a->n_cols, a->nnz));
    if (a->n_rows != a->n_cols)
        bad_matrix(fmt::format("the matrix is {}x{}: only a square matrix has a permanent here", a->n_rows,
                               a->n_cols));
    if (a->n_rows > std::numeric_limits<std::int32_t>::max() - 1)
        throw Error(PERM_UNSUPPORTED, fmt::format("{} rows are more than this version can index", a->n_rows));
    if (a->n_rows > 0 && a->nnz / a->n_rows > a->n_cols)
        bad_matrix(fmt::format("nnz is {}: a {}x{} matrix cannot hold so many entries", a->nnz, a->n_rows,
                               a->n_cols));
    if (a->index_type != PERM_INDEX_I32 && a->index_type != PERM_INDEX_I64)
        throw Error(PERM_BAD_ARGUMENT,
                    fmt::format("index_type {} is none of PERM_INDEX_I64, PERM_INDEX_I32", a->index_type));
    switch (a->value_type) {
    case PERM_VALUE_F64:
    case PERM_VALUE_I64:
    case PERM_VALUE_PATTERN:
        break;
    case PERM_VALUE_C128:
        throw Error(PERM_UNSUPPORTED, "complex128 values: this version computes with real numbers only");
    default:
        throw Error(PERM_BAD_ARGUMENT,
                    fmt::format("value_type {} is none of the perm_value_type constants", a->value_type));
    }
    if (a->n_rows > 0 && !a->row_ptr) throw Error(PERM_BAD_ARGUMENT, "row_ptr is a null pointer");
    if (a->nnz > 0 && !a->col_idx) throw Error(PERM_BAD_ARGUMENT, "col_idx is a null pointer");

    InputPattern input =
        a->index_type == PERM_INDEX_I32 ? read_as<std::int32_t>(*a) : read_as<std::int64_t>(*a);
    input.value_type = static_cast<perm_value_type>(a->value_type);
    return input;
}

std::vector<double> read_values(const InputPattern &input, const void *values) {
    const std::size_t nnz = input.pattern.col.size();
    if (input.value_type == PERM_VALUE_PATTERN) {
        if (values) throw Error(PERM_BAD_ARGUMENT, "a pattern matrix has no values: pass NULL");
        return std::vector<double>(nnz, 1.0);
    }
    if (nnz > 0 && !values)
        throw Error(PERM_BAD_ARGUMENT,
                    "values is a null pointer; use PERM_VALUE_PATTERN if every entry is 1");
    std::vector<double> out(nnz);
    std::int32_t row = 0;
    for (std::size_t k = 0; k < nnz; ++k) {
        while (input.pattern.row_ptr[at(row) + 1] <= static_cast<std::int64_t>(k)) ++row;
        const std::size_t source = input.entry_order.empty() ? k : at(input.entry_order[k]);
        if (input.value_type == PERM_VALUE_I64) {
            constexpr std::int64_t largest = std::int64_t{1} << 53;
            const std::int64_t x = static_cast<const std::int64_t *>(values)[source];
            if (x > largest || x < -largest)
                throw Error(PERM_UNSUPPORTED,
                            fmt::format("value {} at row {}, column {} is beyond 2^53: this version "
                                        "computes in double precision",
                                        x, row, input.pattern.col[k]));
            out[k] = static_cast<double>(x);
        } else {
            out[k] = static_cast<const double *>(values)[source];
            if (!std::isfinite(out[k]))
                bad_matrix(fmt::format("the value at row {}, column {} is {}: every value must be finite",
                                       row, input.pattern.col[k], std::isnan(out[k]) ? "NaN" : "infinite"));
        }
    }
    return out;
}

void drop_zeros(Pattern &pattern, std::vector<double> &values) {
    if (std::find(values.begin(), values.end(), 0.0) == values.end()) return;
    std::size_t kept = 0;
    std::int64_t k = 0;
    for (std::int32_t i = 0; i < pattern.rows; ++i) {
        const std::int64_t end = pattern.row_ptr[at(i) + 1];
        for (; k < end; ++k)
            if (values[at(k)] != 0.0) {
                values[kept] = values[at(k)];
                pattern.col[kept++] = pattern.col[at(k)];
            }
        pattern.row_ptr[at(i) + 1] = static_cast<std::int64_t>(kept);
    }
    pattern.col.resize(kept);
    values.resize(kept);
}

} // namespace libperm
