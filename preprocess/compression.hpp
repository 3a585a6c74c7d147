// Rows and columns of degree 1 and 2 taken out until there are none (d1compress and d2compress of SUperman's
// Algorithm 4).
//
// This never costs: a line of degree 1 takes its crossing line with it, and a line of degree 2 makes one line
// of two with at most as many entries as they had; whatever the order of the rows, the frontier then has at
// most as many open columns as before.
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/poll.hpp"

namespace libperm {

// perm = factor * perm(block).
template <class Value> struct PartOf {
    BlockOf<Value> block;
    Value factor = number_one<Value>();
};

struct CompressionRule {
    bool degree_1 = true, degree_2 = true;
};

template <class Value> struct Compression {
    PartOf<Value> part;
    bool is_zero = false; // a line without entries: the permanent is 0 and `part` means nothing
    std::int64_t degree_1 = 0, degree_2 = 0; // lines taken out
};

// A row or column of at most two entries: else there is nothing to take out.
bool has_light_line(const Pattern &a);

// O(nnz log nnz), whatever the degrees.
template <class Value> Compression<Value> compress(BlockOf<Value> block, const CompressionRule &rule);

} // namespace libperm
