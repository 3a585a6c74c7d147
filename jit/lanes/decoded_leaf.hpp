// A leaf's program as the words that the interpreter runs (jit/lanes/tree_walk.cpp). A block is one number in
// each of `lanes` lanes, part after part; blocks are told by their byte offset.
#pragma once

#include "jit/number/arithmetic.hpp"
#include "jit/program/straight_line.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace libperm {

constexpr std::int32_t block_bytes = 64 * sizeof(double);

// Of a number's block and of a row's. Row sums on two grids stand behind what they come to as numbers.
constexpr std::int64_t number_bytes(Arithmetic a) { return std::int64_t{parts_of(a)} * block_bytes; }
constexpr std::int64_t row_bytes(Arithmetic a) {
    return number_bytes(a) + (has_two_grids(a) ? std::int64_t{row_parts_of(a)} * block_bytes : 0);
}

// Steps of `real` and `two_grids`; of the others the words are those of each instruction: operation, a, b, c,
// and the block for its result; none_left follows the last.
//
// One step makes the accumulator of operands, then the form `.._kept` stores it to a block, the last word.
// Operands: the accumulator; value: a block; sum: block + constant. Each block and constant is a word.
enum class Step : std::uint32_t {
    value,
    sum,
    plus, // acc + constant
    times_value,
    times_sum,
    times_4_sums,
    value_times_value,
    value_times_sum,
    sum_times_sum,
    minus_value,
    minus_sum,
    value_minus, // value - acc
    sum_minus,
    value_minus_times_value, // value - acc * value
    value_minus_times_sum,
    sum_minus_times_value,
    sum_minus_times_sum,
    minus_value_times_value, // acc - value * value
    minus_value_times_sum,
    minus_sum_times_sum,
    value_minus_value_times_value,
    abs_plus_abs_value, // |acc| + |value|
    abs_plus_abs_sum,
    abs_times_value, // |acc| * value
    abs_value_times, // |value| * acc
    abs_sum_times,
    abs_times_value_plus_value, // |acc| * value + value
    abs_value_times_plus_value, // |value| * acc + value
    abs_sum_times_plus_value,
    plus_abs_value_times_value, // acc + |value| * value
    plus_abs_sum_times_value,
    abs_value_plus_abs_value,
    abs_value_times_value,
    abs_value_times_value_plus_value,
    value_plus_value,
    value_times_value_plus_value,
    least_of_values,
    reciprocal_of_value,
    derivative_absolute_of_values,
    end
};
constexpr std::uint32_t kept = 64; // added to a step's word
constexpr std::uint32_t none_left = 255;

struct DecodedLeaf {
    std::vector<std::uint32_t> words;
    std::array<std::uint32_t, 2> outputs; // blocks
};

struct LeafWords {
    DecodedLeaf leaf;
    std::uint32_t bytes; // that it needs, from its first block on
};
LeafWords decode_leaf(const StraightLine &program, std::uint32_t first_block, Arithmetic arithmetic);

} // namespace libperm
