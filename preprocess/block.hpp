// A square matrix on its way through the reductions: what is left of the input, or a part of it.
#pragma once

#include "preprocess/numbers.hpp"
#include "preprocess/pattern.hpp"

#include <vector>

namespace libperm {

// Value: Tracked, where doubles do; else Gaussian.
template <class Value> struct BlockOf {
    Pattern pattern;
    std::vector<Value> values; // by entry; one that is 0 counts as an entry of the pattern
    std::int32_t n() const { return pattern.rows; }
};
using Block = BlockOf<Tracked>;
using ExactBlock = BlockOf<Gaussian>;

template <class Value> Value number_one();
template <> inline Tracked number_one<Tracked>() { return tracked(1); }
template <> inline Gaussian number_one<Gaussian>() { return {1, 0}; }

// On the way of any term of the permanent, at most: every term takes one entry of each row and column.
double most_roundings(const Block &block);

// Without the entries that are 0.
template <class Value> Pattern nonzero_pattern(const BlockOf<Value> &block);

template <class Value> BlockOf<Value> transposed(const BlockOf<Value> &block);

// What it holds, with what the allocator adds: of numbers of any length each one's own.
std::int64_t bytes_of(const Pattern &pattern);
template <class Value> std::int64_t bytes_of(const BlockOf<Value> &block);

} // namespace libperm
