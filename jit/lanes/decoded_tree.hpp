// A tree as the interpreter runs it (jit/lanes/tree_walk.cpp): the leaves' programs as words, and where
// everything lives. A block is one number in each of `lanes` lanes, part after part; blocks are told by their
// byte offset.
#pragma once

#include "jit/number/arithmetic.hpp"
#include "jit/program/tree.hpp"

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

// A leaf of `real` and `two_grids` is a list of steps; of other arithmetics the words are those of each
// instruction: operation, a, b, c, and the block for its result. none_left follows the last.
//
// A step makes the accumulator of operands; with `kept` it stores it to a block, too, which is the last word.
// Operands: the accumulator; a value, its block; a row sum that is made here, a block and a constant; four of
// these, one after the other.
enum class OperandKind : std::uint32_t { none, accumulator, value, sum, four_sums };
constexpr std::uint32_t step_of(Op op, OperandKind a, OperandKind b = OperandKind::none,
                                OperandKind c = OperandKind::none) {
    std::uint32_t step = static_cast<std::uint32_t>(op);
    for (const OperandKind kind : {a, b, c}) step = 8 * step + static_cast<std::uint32_t>(kind);
    return step;
}
// But for the block that the result is kept in; more is added to than a row sum's constant.
constexpr std::uint32_t step_words(Op op, OperandKind a, OperandKind b, OperandKind c) {
    std::uint32_t words = op == Op::add && a != OperandKind::sum ? 2 : 1;
    for (const OperandKind kind : {a, b, c})
        words += kind == OperandKind::four_sums ? 8
                 : kind == OperandKind::sum     ? 2
                 : kind == OperandKind::value   ? 1
                                                : 0;
    return words;
}
constexpr std::uint32_t kept = 1 << 16; // added to a step's word
constexpr std::uint32_t none_left = kept - 1;

struct DecodedLeaf {
    std::vector<std::uint32_t> words;
    std::array<std::uint32_t, 2> outputs; // blocks
};

// to = from * x of the rows, from left to right.
struct Product {
    std::uint32_t from, to;
    std::vector<std::uint32_t> rows; // blocks
};

struct DecodedPart {
    std::int32_t loop = 0, loop_end = 0;
    Product top;                 // of the root
    std::vector<Product> levels; // by looped column; level j begins with what level j + 1 came to
    std::vector<DecodedPart> parts;
    DecodedLeaf leaf;
    std::uint32_t inner_f, inner_g;     // blocks: of the leaf, or of all parts
    std::uint32_t sum, error, absolute; // of the loop
    std::uint32_t value_f, value_g;     // what the part comes to
    std::uint32_t factor;               // the product of all levels
};

struct DecodedTree {
    DecodedTree(const Tree &tree, Arithmetic arithmetic);

    DecodedPart root;
    std::uint32_t one = 0;   // the block of ones
    std::uint32_t bytes = 0; // of all blocks; the first n are x
};

} // namespace libperm
