// The order in which columns are given their signs.
#pragma once

#include "lib/sieve/rows.hpp"
#include "preprocess/poll.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

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
