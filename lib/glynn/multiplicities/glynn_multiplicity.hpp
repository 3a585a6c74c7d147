// The sum over counts of repeated columns in doubles, with its bound.
#pragma once

#include "lib/glynn/multiplicities/line_classes.hpp"
#include "lib/tape/tape_run.hpp"

namespace libperm {

// Twice the precision follows, where it may, if the bound misses the tolerance. On so many threads at most,
// with the same bits for any number of them. False: the matrix is not for this (put_on_grid).
bool glynn_multiplicity(const SmallLineClasses &a, double tolerance, bool may_be_dd, int threads,
                        TapeAnswer &answer);

} // namespace libperm
