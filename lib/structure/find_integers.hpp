// Small integers that a block is, but for a factor of each row and of each column.
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/poll.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

constexpr std::int32_t most_integer_lines = 128;
constexpr int most_integer = 127;
constexpr std::int32_t most_lines_of_others = 8;

// By entry; none: it is of more lines, or not of this kind. Multiples of one number by up to most_integer,
// each line divided by what it has in common, or numbers of equal magnitudes after the lines are scaled; by
// exact comparisons. Or such multiples but for
// entries (no_integer) of a few rows or of a few columns. What is neither is given up at the first entries
// that say so.
template <class Value> std::vector<std::int8_t> find_integers(const BlockOf<Value> &block);

} // namespace libperm
