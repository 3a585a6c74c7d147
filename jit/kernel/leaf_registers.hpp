// What is alive at once in the code of a leaf, and whether a thread's registers hold it.
#pragma once

#include "jit/kernel/row_sums.hpp"
#include "jit/number/arithmetic.hpp"

namespace libperm {

// Doubles alive at once, beside the row sums that the program begins with.
std::int64_t doubles_at_once(const StraightLine &leaf, const RowSums &sums, Arithmetic arithmetic);

// Bytes that ptxas spills of a leaf in double precision whose row sums stand in registers, about: what is
// alive beyond the registers, added up over the instructions. Of leaves of 169 patterns, n = 36 to 50, with
// CUDA 13 for sm_90, which spill 0 to 540, it is 60 off in the mean square; other sums of what is alive tell
// no more.
double spilled_bytes(const StraightLine &leaf, const RowSums &sums);

} // namespace libperm
