// The sum over counts of repeated columns in doubles, with its bound.
#pragma once

#include "lib/small/kinds.hpp"
#include "lib/tape/tape_run.hpp"

namespace libperm {

bool sum_in_counts(const SmallKinds &a, TapeAnswer &answer); // false: it is not for this (fix_columns)

} // namespace libperm
