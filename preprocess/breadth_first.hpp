// Rows and columns in the order in which a breadth-first search from the first row meets them, as SUperman
// has them before it decomposes: which line is the lowest of the lightest depends on it.
#pragma once

#include "preprocess/block.hpp"

namespace libperm {

template <class Value> BlockOf<Value> in_breadth_first_order(const BlockOf<Value> &block);

} // namespace libperm
