// What bets about a mean need to know of samples (lib/estimates/sample_pieces.hpp): products of 1 + b x over
// a chunk of them, in an order that a GPU takes as well (jit/device/bet_tally.cuh).
#pragma once

#include <cstddef>
#include <span>

namespace libperm {

// Sample k is in column k % tally_columns. The samples of a column are added and multiplied first; then the
// later half of the columns to the other, until one is left.
constexpr std::size_t tally_columns = 256, tally_samples = 8 * tally_columns;

// Of a chunk: the samples' sum, how many are not 0, and of each bet the product's mantissa and exponent.
constexpr std::size_t tally_doubles(std::size_t bets) { return 2 + 2 * bets; }

// Samples from [0, 1], tally_samples of them; bets above -0.98 and up to 1e37.
void tally_bets(std::span<const double> samples, std::span<const double> bets, double *told);

} // namespace libperm
