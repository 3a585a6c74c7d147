// How a kernel runs a leaf's program: how its row sums are made, what is alive at once, and in which order
// its instructions go.
#pragma once

#include "jit/number/arithmetic.hpp"
#include "jit/program/tree.hpp"

namespace libperm {

// The index of the row's entry in the column, among the tree's.
std::int64_t entry_of(const Tree &tree, std::int32_t row, std::int32_t column);

struct RowSum {
    std::int32_t from = 0;  // a value of the program
    std::int64_t entry = 0; // its index, or -1: then it is `from` plus a constant
    bool in = true;         // plus the entry
};

// A row sum x that the code stops using long before its end is made again there, and needs no register until
// then: x = value - entry.
struct Restored {
    std::int32_t row, value;
    std::int64_t entry;
};

struct RowSums {
    std::vector<RowSum> of; // by instruction of the leaf; of those that are not Op::add it means nothing
    std::vector<Restored> restored;
};
RowSums row_sums_of(const Tree &tree, const StraightLine &leaf);

// The tree's constants that are read after all, ascending: by a leaf, and over all leaves.
std::vector<std::int32_t> constants_read(const StraightLine &leaf, const RowSums &sums);
std::vector<std::int32_t> constants_read(const Tree &tree);

// Doubles alive at once, beside the row sums that the program begins with.
std::int64_t doubles_at_once(const StraightLine &leaf, const RowSums &sums, Arithmetic arithmetic);

// Bytes that ptxas spills of a leaf in double precision whose row sums stand in registers, about: what is
// alive beyond the registers, added up over the instructions. Of leaves of 169 patterns, n = 36 to 50, with
// CUDA 13 for sm_90, which spill 0 to 540, it is 60 off in the mean square; other sums of what is alive tell
// no more.
double spilled_bytes(const StraightLine &leaf, const RowSums &sums);

// In which order a kernel whose row sums stand in shared memory takes the instructions of a leaf's program,
// so that registers hold what is alive. Subset after subset, as the program has them, a version of every row
// is: each is made from the one before. Product after product, all subsets' first, then all subsets' second,
// the versions of one row are, and a product for each subset: fewer where the columns touch most rows.

// Whichever of the two orders needs fewer, and no constant that is not read in the program's own.
StraightLine least_alive(const Tree &tree, const StraightLine &leaf, Arithmetic arithmetic);

} // namespace libperm
