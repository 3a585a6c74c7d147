// Matrices whose terms have one sign.
#pragma once

#include "preprocess/block.hpp"

namespace libperm {

// Where rows and columns can be given signs such that no entry is negative, |perm| is the permanent of the
// absolute values: then its sign, 1 or -1; else 0.
int sign_by_lines(const Block &block);

} // namespace libperm
