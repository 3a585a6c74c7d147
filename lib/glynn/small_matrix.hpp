// A small square matrix written out, as the caller gave it: its entries looked at as they are read, and put
// on two grids.
#pragma once

#include "jit/lanes/grid_columns.hpp"
#include "jit/lanes/sign_sum.hpp"

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <perm.h>

namespace libperm {

constexpr int most_small_order = most_sign_order;

// Entry (i, j) stands at j * stride + i, so that all rows are scaled, added and multiplied side by side.
template <class Number> using SmallColumns = std::array<Number, most_small_order * most_small_order>;

// Up to order least_sign_order ones are added on the diagonal: the permanent stays as it is.
struct SmallMatrix {
    int given = 0, order = 0, stride = 0; // order as given, and with the ones
    std::int64_t nnz = 0;                 // entries as given that are not 0
    bool is_integer = false; // int64, or all ones: in `integers`; else in `re` and, if complex, `im`
    bool is_complex = false;
    // NOLINTBEGIN(*-member-init): as many as the order takes are written
    alignas(64) SmallColumns<double> re, im;
    alignas(64) SmallColumns<std::int64_t> integers;
    // NOLINTEND(*-member-init)

    std::size_t at(int i, int j) const {
        return static_cast<std::size_t>(j) * static_cast<std::size_t>(stride) + static_cast<std::size_t>(i);
    }
    std::size_t size() const { return at(0, order); }
    std::complex<double> entry(int i, int j) const {
        const std::size_t k = at(i, j);
        if (is_integer) return static_cast<double>(integers[k]);
        return {re[k], is_complex ? im[k] : 0};
    }
};

// False for what is no such matrix, too large or at fault: the general road tells which.
bool read_dense(const perm_csr &a, SmallMatrix &out);

// Reads values that stand row by row, n in each.
bool read_full(const void *values, perm_value_type type, int n, SmallMatrix &out);

constexpr int least_order_compared = 13; // from which on repeated lines are worth looking for

// Whether two rows or two columns may be multiples of each other; true multiples are never overlooked.
bool may_have_proportional_lines(const SmallMatrix &a);

// The entries of a caller's small matrix, looked at as they are read.

constexpr int most_lines_read = 64;

// put(k, i, j) for each entry k of the caller's, in row i and column j, of at most most_lines_read; false if
// the arrays are at fault.
template <class Index, class Put> bool for_each_entry(const perm_csr &a, const Put &put) {
    const auto *row_ptr = static_cast<const Index *>(a.row_ptr);
    const auto *col = static_cast<const Index *>(a.col_idx);
    const auto rows = static_cast<Index>(a.n_rows), columns = static_cast<Index>(a.n_cols);
    if (row_ptr[0] != 0 || row_ptr[rows] != a.nnz) return false;
    for (Index i = 0; i < rows; ++i) {
        const Index begin = row_ptr[i], end = row_ptr[i + 1];
        if (begin > end || end > a.nnz) return false;
        std::uint64_t seen = 0;
        for (Index k = begin; k < end; ++k) {
            const Index j = col[k];
            if (j < 0 || j >= columns || seen >> j & 1) return false;
            seen |= std::uint64_t{1} << j;
            put(static_cast<std::size_t>(k), static_cast<int>(i), static_cast<int>(j));
        }
    }
    return true;
}

template <class Put> bool for_each_entry(const perm_csr &a, const Put &put) {
    return a.index_type == PERM_INDEX_I64 ? for_each_entry<std::int64_t>(a, put)
                                          : for_each_entry<std::int32_t>(a, put);
}

// Rows are multiplied by powers of two; see docs/accuracy.md, "Sums over signs".
struct SmallGrid {
    std::int64_t exp2 = 0; // the permanent is that of the columns times 2^exp2
    bool is_split = false; // an entry has bits on the second grid
    double moved = 0;      // that the permanent can have been changed by, of entries with bits below it
    // NOLINTBEGIN(*-member-init): as many as the order takes are written
    alignas(64) SmallColumns<double> re, re_low, im, im_low;
    // NOLINTEND(*-member-init)

    GridColumns of(const SmallMatrix &a) const; // for as long as this stays where it is
};

// False if an entry is not finite, a row zero, or its exponent far from a double's middle.
bool put_on_grid(const SmallMatrix &a, SmallGrid &out);

// How often each row counts: 0 of rows of zeros that are not to count, and all of them together, as many as
// columns with theirs.
struct RowCounts {
    std::array<int, most_small_order> of{};
    int total = 0;
};
bool put_on_grid(const SmallMatrix &a, const RowCounts &counts, SmallGrid &out);

} // namespace libperm
