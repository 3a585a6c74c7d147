// Rows of small integers, the factors that they are in the sum over signs, and the order in which columns
// are given their signs.
#pragma once

#include "preprocess/limits.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

constexpr std::int32_t most_row_weight = 127; // the sum of a row's absolute values

struct SieveEntry {
    std::int32_t col, value; // not 0; no_integer: another number
};
using SieveRows = std::vector<std::vector<SieveEntry>>; // square

SieveRows transposed(const SieveRows &rows);

// Of larger sum, or of an entry that is no small integer: it has no factor, its sum is multiplied at last.
bool is_other(const std::vector<SieveEntry> &row);

// scale * count - offset, where count is the sum of the absolute values whose signs agree with their
// columns'. The scale is 2 where the row's sum is odd and is to change its sign with all x.
struct SieveFactor {
    std::int32_t weight = 0; // the largest count
    std::int32_t scale = 1, offset = 0;
    std::int32_t vanishes = -1; // the count at which it is 0; -1: none
    double stays = 1;           // the share of the signs at which it is not
    std::vector<double> shares; // of the signs, by count

    std::int32_t at(std::int32_t count) const { return scale * count - offset; }
};

// Halved: x and -x have the same term, so half of them suffice. Else the offset is what vanishes most often:
// the coefficient of x_1 ... x_n is the same whatever numbers are added to the rows' sums.
std::vector<SieveFactor> row_factors(const SieveRows &rows, bool is_halved);

// log2 of the prefixes that are left after each column, summed, as if rows vanished independently of each
// other: too few by 2 to 16 times, but orders compare by it as they do by the truth.
double predicted_prefixes(const SieveRows &rows, const std::vector<SieveFactor> &factors,
                          const std::vector<std::int32_t> &order);

struct SieveOrder {
    std::vector<std::int32_t> columns;
    double predicted; // prefixes
};

// By simulated annealing, in about so many seconds of one thread, counted in steps: the same arguments give
// the same order.
SieveOrder sieve_order(const SieveRows &rows, const std::vector<SieveFactor> &factors, double seconds);

} // namespace libperm
