// Past memory: a frontier program cut into slices. Fix a column on one side of a cut between two rows: it is
// used by a row before the cut, or by one after it. Every term of the permanent does one of the two, so that
//
//     perm(A) = sum over the slices of the permanent without the entries that the slice rules out,
//
// and a column is open in fewer steps when it has lost its first or its last entries. A slice is the same
// order of the rows with the same slots and smaller tables; slices are independent of each other.
#pragma once

#include "preprocess/frontier_program.hpp"

#include <functional>

namespace libperm {

// On which side of a cut a column is used. It is named by its slot, and is open at the cut.
struct FixedColumn {
    std::int32_t step; // the cut is after this one
    std::int32_t slot;
    bool before; // used by then, else later
};

// A column may be fixed again at another cut, between the entries that it still has.
using FrontierSlice = std::vector<FixedColumn>;

// Of a program without counters, of at most 64 slots.
FrontierProgram slice_of(const FrontierProgram &program, const FrontierSlice &slice);

// Whether there is such a slice: columns that are open at their cuts, and some term of the permanent.
bool has_slice(const FrontierProgram &program, const FrontierSlice &slice);

struct SliceNeeds {
    double seconds = 0, bytes = 0;
};

struct SliceSearch {
    std::function<SliceNeeds(const FrontierProgram &)> needs;
    double most_bytes = 0;       // of a slice
    double most_seconds = 1e300; // of all slices together
    std::size_t most_slices = std::size_t{1} << 16;
    std::function<void()> poll; // called now and then; may throw to stop the search
};

// The slices that fit, without those that no term of the permanent is in; one that fixes nothing if the
// program fits as it is. None: there are no slices within these limits. Deterministic.
std::vector<FrontierSlice> find_slices(const FrontierProgram &program, const SliceSearch &search);

} // namespace libperm
