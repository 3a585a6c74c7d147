// A tree as the interpreter runs it (jit/lanes/tree_walk.cpp): the leaves' programs as words, and where
// everything lives.
#pragma once

#include "jit/lanes/decoded_leaf.hpp"
#include "jit/program/tree.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

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
