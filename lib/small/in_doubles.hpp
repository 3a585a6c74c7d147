// The sum over signs in doubles, with its bound.
#pragma once

#include "lib/small/small_matrix.hpp"
#include "lib/tape/tape_run.hpp"

namespace libperm {

// On so many threads at most, with the same bits for any number of them; the matrix not `is_whole`. False: it
// is not for this (fix_columns).
bool sum_in_doubles(const SmallMatrix &a, int threads, TapeAnswer &answer);

} // namespace libperm
