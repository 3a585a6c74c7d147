// A small square matrix written out, as the caller gave it.
#pragma once

#include "jit/lanes/sign_sum.hpp"

#include <perm.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>

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

} // namespace libperm
