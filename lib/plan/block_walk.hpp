// The walk over the blocks that a matrix is taken apart into.
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/decompose.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/matching.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace libperm {

// Takes the steps in their order to `algebra`, which has
//     bool block(LeafOf<Value>)     false: no more is wanted
//     void number(const Value &)
//     void multiply(std::size_t), void add(std::size_t)    so many of the last numbers
// Whether all were taken.
template <class Value, class Algebra>
bool walk_blocks(Decomposition<Value> &decomposition, Algebra &&algebra) {
    for (StepOf<Value> step; decomposition.next(step);) {
        poll();
        if (auto *leaf = std::get_if<LeafOf<Value>>(&step)) {
            if (!algebra.block(std::move(*leaf))) return false;
        } else if (const auto *number = std::get_if<Value>(&step)) {
            algebra.number(*number);
        } else if (const auto *multiply = std::get_if<Multiply>(&step)) {
            algebra.multiply(multiply->count);
        } else {
            algebra.add(std::get<Add>(step).count);
        }
    }
    return true;
}

// An algebra of blocks alone.
template <class Value, class Take> struct LeavesAlone {
    Take take;
    bool block(LeafOf<Value> &&leaf) { return take(std::move(leaf)); }
    void number(const Value &) {}
    void multiply(std::size_t) {}
    void add(std::size_t) {}
};
template <class Value, class Take> bool walk_leaves(Decomposition<Value> &decomposition, Take take) {
    return walk_blocks(decomposition, LeavesAlone<Value, Take>{std::move(take)});
}

// Explicit zeros, or entries that have become 0, may leave fewer entries than a perfect matching needs.
template <class Value> bool zeros_leave_no_matching(const BlockOf<Value> &block) {
    if (std::none_of(block.values.begin(), block.values.end(), [](const Value &x) { return is_zero(x); }))
        return false;
    return !has_perfect_matching(nonzero_pattern(block));
}

} // namespace libperm
