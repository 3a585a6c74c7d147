// The sum over signs in doubles, with its bound.
#pragma once

#include "lib/glynn/small_matrix.hpp"
#include "lib/tape/tape_run.hpp"

namespace libperm {

// On so many threads at most, with the same bits for any number of them; the matrix not `is_integer`. False:
// it is not for this (put_on_grid).
bool glynn_double(const SmallMatrix &a, int threads, TapeAnswer &answer);

} // namespace libperm
