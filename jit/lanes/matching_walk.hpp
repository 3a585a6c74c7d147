// Matchings drawn at random, column by column, many side by side: the inner loop of estimates
// (docs/estimates.md).
//
// A step gives its column to one of the rows that are left, each with a probability in proportion to its
// weight; y is what their weights add up to. A walk's value is the product of all y exp(1 - y), 0 where no
// row is left to choose.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace libperm {

constexpr int walk_lanes = 32;
constexpr std::size_t between_foldings = 32; // steps after which a product takes in exp(slack)

// What may be chosen at a step, and with which weight.
struct WalkStep {
    std::span<const std::int32_t> rows;
    std::span<const double> weights; // > 0
};

struct alignas(64) WalkLanes {
    std::array<double, walk_lanes> product{}, slack{}; // of the y, of the 1 - y
    std::array<std::array<std::uint64_t, walk_lanes>, 4> random{};
};

// left: 1 or 0 for each row and lane, aligned to 64 bytes. Blackman and Vigna's xoshiro256+ draws. The same
// bits on every processor.
void walk_matchings(std::span<const WalkStep> steps, double *left, WalkLanes &lanes);

// What bets about a mean need to know of samples (lib/estimates): products of 1 + b x over a chunk of them,
// in an order that a GPU takes as well (jit/device/matching_walk.cuh).

// Sample k is in column k % tally_columns. The samples of a column are added and multiplied first; then the
// later half of the columns to the other, until one is left.
constexpr std::size_t tally_columns = 256, tally_samples = 8 * tally_columns;

// Of a chunk: the samples' sum, how many are not 0, and of each bet the product's mantissa and exponent.
constexpr std::size_t tally_doubles(std::size_t bets) { return 2 + 2 * bets; }

// Samples from [0, 1], tally_samples of them; bets above -0.98 and up to 1e37.
void tally_bets(std::span<const double> samples, std::span<const double> bets, double *told);

} // namespace libperm

// The arithmetic of jit/device/walk_value.cuh on the host.
namespace libperm::walk_value {

// NOLINTBEGIN(bugprone-reserved-identifier): words of CUDA C++
#define __device__
#define __forceinline__ inline
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
// NOLINTEND(bugprone-reserved-identifier)

#include "jit/device/walk_value.cuh"

#undef __device__
#undef __forceinline__

} // namespace libperm::walk_value
