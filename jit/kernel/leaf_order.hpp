// In which order a kernel whose row sums stand in shared memory takes the instructions of a leaf's program,
// so that registers hold what is alive. Subset after subset, as the program has them, a version of every row
// is: each is made from the one before. Product after product, all subsets' first, then all subsets' second,
// the versions of one row are, and a product for each subset: fewer where the columns touch most rows.
#pragma once

#include "jit/kernel/row_sums.hpp"
#include "jit/number/arithmetic.hpp"

namespace libperm {

// Whichever of the two orders needs fewer, and no constant that is not read in the program's own.
StraightLine least_alive(const Tree &tree, const StraightLine &leaf, Arithmetic arithmetic);

} // namespace libperm
