// Whether a thread's registers hold what is alive in the code of a leaf.
#pragma once

#include "jit/kernel/row_sums.hpp"

namespace libperm {

// Bytes that ptxas spills of a leaf in double precision whose row sums stand in registers, about: what is
// alive beyond the registers, added up over the instructions. Of 78 leaves of eight patterns, with CUDA 13
// for sm_90, it is within 100 bytes but for a few.
double spilled_bytes(const StraightLine &leaf, const RowSums &sums);

} // namespace libperm
