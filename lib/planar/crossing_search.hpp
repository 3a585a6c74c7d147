// A few entries without which a pattern is planar.
#pragma once

#include "preprocess/pattern.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

constexpr std::int32_t most_crossings = 10, most_crossing_lines = 3;

// Some tests of planarity, each O(n + nnz), until it is found to be hopeless or done: entries, ascending, at
// most so many, or all entries of a few lines. Empty: none were found.
std::vector<std::int32_t> crossings_of(const Pattern &a, const Poll &poll = no_poll);

} // namespace libperm
