// Permanents of up to three rows of doubles by their definition, in double-double numbers: the double next to
// each.
#pragma once

#include "lib/glynn/small_matrix.hpp"
#include "lib/tape/tape_run.hpp"

namespace libperm {

constexpr int most_by_definition = 3;

// False: entries lie too far from 1. Proof of the bound: docs/accuracy.md, "Up to three rows".
bool permanent_by_definition(const SmallMatrix &a, TapeAnswer &answer);

} // namespace libperm
