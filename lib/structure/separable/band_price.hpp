// What a walk with a band takes.
#pragma once

#include "lib/structure/separable/band_moves.hpp"

namespace libperm {

// How many products, and how many bytes at most.
double band_products(const BandShape &shape);
double band_bytes(const BandShape &shape);
// How many numbers stand beside one set of known lines, at most.
double most_beside_a_set(const BandShape &shape);

// States, and the lines of equal rows that they stand in.
struct StateCount {
    double states = 0, lines = 0;
};
// To sum so many sources for each: finding them for a line takes as long as some products.
inline double products_of_sums(const StateCount &count, std::size_t sources) {
    constexpr double products_of_line = 24;
    return count.states * static_cast<double>(sources) + count.lines * products_of_line;
}

} // namespace libperm
