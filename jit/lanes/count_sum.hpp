// Sums over how many of each kind of column are taken with a minus, many side by side (Glynn's formula, see
// sign_sum.hpp, where columns repeat): with c_j columns of kind j and r_i rows of kind i, N of each,
//
//   2^N perm(A) = sum over k, 0 <= k_j <= c_j, of
//                 prod_j (-1)^k_j C(c_j, k_j) * prod_i (sum_j (c_j - 2 k_j) a_ij)^r_i
#pragma once

#include "jit/lanes/grid_columns.hpp"

#include <cstdint>

namespace libperm {

// Binomial coefficients that doubles hold.
constexpr int most_binomial = 56; // C(56, 28) < 2^53

struct Binomials {
    double of[most_binomial + 1][most_binomial + 1] = {}; // C(n, k) at [n][k]

    constexpr Binomials() {
        for (int n = 0; n <= most_binomial; ++n) {
            of[n][0] = of[n][n] = 1;
            for (int k = 1; k < n; ++k) of[n][k] = of[n - 1][k - 1] + of[n - 1][k];
        }
    }
};
inline constexpr Binomials binomials;

constexpr int most_of_kind = most_binomial; // of columns
constexpr int most_summed_kinds = 40;       // of rows and of columns, by itself

// Sums of a row's entries are of these times whole numbers of up to c_j.
struct CountedColumns : GridColumns {
    int rows = 0, columns = 0; // kinds
    const int *row_count = nullptr, *column_count = nullptr;
};

struct CountSum : TermSum {
    int step_roundings = 0; // of a term where it is added to those of its step
    double steps = 0;       // that were added up
};

// The counts of the first kinds are summed over side by side, in lanes that are filled up to eights: a step.
constexpr int count_lanes = 8, most_low_counts = 64;
struct LowKinds {
    int kinds = 0, lanes = 0;
};
LowKinds low_kinds(const CountedColumns &a);

// Of the last kind half of the counts will do: k and c - k give the same term.
inline int last_count(const CountedColumns &a, int j) {
    return j == a.columns - 1 ? a.column_count[j] / 2 : a.column_count[j];
}

std::uint64_t count_steps(const CountedColumns &a);

// Of steps first to last - 1. dd: in double-doubles, but for the weights. The same bits on every
// processor.
CountSum sum_over_counts(const CountedColumns &a, bool dd, std::uint64_t first, std::uint64_t last);

} // namespace libperm
