// Lines that are multiples of each other, and lines of a graph that are copies of each other.
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/limits.hpp"

namespace libperm {

// Equal rows have equal numbers, the lowest row among them; columns likewise. Empty: all different.
struct LineClasses {
    std::vector<std::int32_t> of_row, of_col;
};

// Equal lines: the lowest of them, and how many there are.
struct EqualLines {
    std::int32_t line = 0, count = 1;
};

// By their lowest lines. `lowest`: of the lines equal to each of n; empty: all are different.
std::vector<EqualLines> kinds_of(const std::vector<std::int32_t> &lowest, std::int32_t n);

template <class Value> struct RepeatedLines {
    LineClasses kinds;
    Value factor; // what the permanent of the block with equal lines made equal is to be multiplied by
};

// Makes proportional lines of `block` equal. Only true multiples count: products are compared exactly.
// `account` (may be none) is of what is held meanwhile.
template <class Value>
RepeatedLines<Value> merge_repeated_lines(BlockOf<Value> &block, MemoryAccount *account = nullptr);

// Lines of a graph that are copies of each other: photons of one mode, sites of one kind.
//
// Two lines are equal where they have equal entries with all others, and equal loops or none. That is an
// equivalence: all pairs of a kind have one entry then, or none. A hafnian depends only on how many lines of
// each kind are matched: engines count m + 1 cases instead of 2^m subsets.

// Empty: all different. Values are compared exactly, and none is changed; of_col stays empty. Entries that
// are 0 are entries.
template <class Value> LineClasses equal_lines(const BlockOf<Value> &graph, MemoryAccount *account = nullptr);

// Whether `lowest` names kinds of lines that are equal as far as the pattern says, each by its lowest.
bool are_kinds_of_lines(const Pattern &graph, const std::vector<std::int32_t> &lowest);

} // namespace libperm
