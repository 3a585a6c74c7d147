// How a kernel makes the row sums of a leaf's program. There each is x + constant; but a GPU reads constants
// fast only as long as they are few (2 KiB on the GPUs of today), so most are made from one another: a row
// sum that differs in one column, plus or minus that entry. All are exact: the bits are the same.
#pragma once

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

} // namespace libperm
