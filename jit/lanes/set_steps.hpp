// A step of the walk over sets of lines (lib/sets), forwards and back, in vectors.
//
// A table has a number for each set of the lines that wait, bit k of its place telling whether line k is in
// it. A step takes a line that is met: after[S] = stays before[S] + sum over k in S of a[k] before[S - k].
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace libperm {

constexpr int set_block_bits = 6;
constexpr std::size_t set_block = std::size_t{1} << set_block_bits; // sets that are gone over together
constexpr std::size_t set_chunk = 256;                              // blocks whose products are one sum

// A table has at least a block, and so many numbers to spare before and behind it, which are finite.
constexpr std::size_t set_margin = 8;

struct SetStep {
    struct High { // a line whose bit is above a block's
        std::uint64_t bit;
        double factor;
    };
    const double *before = nullptr;
    double stays = 0;
    std::array<double, set_block_bits> low{}; // factors of the lines in a block; 0: none
    std::span<const High> high;               // ascending
    std::uint64_t opened = 0; // bits above a block's that no set before has: `before` ends below them
};

// Blocks first to last - 1 of the table after. The same bits on every processor.
void step_forward(const SetStep &step, std::uint64_t first, std::uint64_t last, double *after);

// Of the sums of products: one for `stays`, then for the low lines, then for the high ones.
constexpr std::size_t sums_of(const SetStep &step) { return 1 + set_block_bits + step.high.size(); }

// Slopes are what sums over all ways to go on come to. Of blocks first to last - 1 of the table before:
// slopes[S] = stays after[S] + sum over k not in S of a[k] after[S + k], and to sums[k] the sum of
// before[S] after[S + k]. So many that a term of a sum is rounded 8 + set_chunk + 8 times at most for a
// chunk.
void step_back(const SetStep &step, std::uint64_t first, std::uint64_t last, const double *after,
               double *slopes, double *sums);

} // namespace libperm
