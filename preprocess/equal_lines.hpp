// Lines of a graph that are copies of each other: photons of one mode, sites of one kind.
//
// Two lines are equal where they have equal entries with all others, and equal loops or none. That is an
// equivalence: all pairs of a kind have one entry then, or none. A hafnian depends only on how many lines of
// each kind are matched: engines count m + 1 cases instead of 2^m subsets.
#pragma once

#include "preprocess/memory_account.hpp"
#include "preprocess/repeated_lines.hpp"

namespace libperm {

// Empty: all different. Values are compared exactly, and none is changed; of_col stays empty. Entries that
// are 0 are entries.
template <class Value> LineClasses equal_lines(const BlockOf<Value> &graph, MemoryAccount *account = nullptr);

// Whether `lowest` names kinds of lines that are equal as far as the pattern says, each by its lowest.
bool are_kinds_of_lines(const Pattern &graph, const std::vector<std::int32_t> &lowest);

} // namespace libperm
