// What a block takes along a frontier, at a first look: whether it is worth to look for drawings.
#pragma once

#include "preprocess/pattern.hpp"

namespace libperm {

// Multiply-adds, rows being taken by breadth from a far one: a search finds fewer, mostly. O(n + nnz).
double operations_by_breadth(const Pattern &a);

} // namespace libperm
