// Matchings drawn at random, column by column, many side by side: the inner loop of estimates
// (docs/estimates.md).
//
// A step gives its column to one of the rows that are left, each with a probability in proportion to its
// weight; y is what their weights add up to. A walk's value is the product of all y exp(1 - y), 0 where no
// row is left to choose.
#pragma once

#include <array>
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

} // namespace libperm
