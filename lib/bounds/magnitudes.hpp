// A block as bounds take it: of each entry numbers that its absolute value lies between.
#pragma once

#include "preprocess/block.hpp"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

struct Magnitudes {
    Pattern pattern;
    std::vector<double> lower, upper; // by entry, times powers of two of its row and column; some may be 0
    std::int64_t exp2 = 0;            // |perm| is 2^exp2 times that of the entries as they are here

    // Rows and columns can be given signs such that no entry is negative: |perm| is the permanent of the
    // absolute values, and lower bounds are worth something.
    bool of_one_sign = false;
    // Else the entries themselves, in the same scale, each within radius() of the truth.
    std::vector<std::complex<double>> value;
    double radius(std::size_t entry) const { return upper[entry] - lower[entry] + 0x1p-48 * upper[entry]; }

    std::int32_t n() const { return pattern.rows; }
};

// Scales rows and columns by powers of two, so that no entry is far above 1 and no perfect matching's product
// lost. The permanent gains the factor 2^(what is returned).
std::int64_t scale_for_bounds(Block &block);

// Entries so small beside a perfect matching of entries near 1 count for nothing: 0 from below, this from
// above.
constexpr int least_exponent = -900;

// The block must have a perfect matching.
Magnitudes magnitudes_between(Block block);
Magnitudes magnitudes_between(const ExactBlock &block);

} // namespace libperm
