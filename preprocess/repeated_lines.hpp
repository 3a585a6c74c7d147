// Rows that are multiples of each other, and columns that are.
//
// With each of them divided by its factor they are equal, and the permanent of a matrix with equal columns
// depends only on how many of each kind are used: engines count m + 1 cases instead of 2^m subsets.
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/memory_account.hpp"
#include "preprocess/poll.hpp"

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

} // namespace libperm
