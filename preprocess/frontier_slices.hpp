// Past memory: a frontier program cut into slices. Fix a line on one side of a cut: along a path a column is
// used by a row before the cut, or by one after it; on a tree a line is matched below a node, or not. Every
// term of the permanent does one of the two, so that
//
//     perm(A) = sum over the slices of the permanent without the entries that the slice rules out,
//
// and a line waits in fewer states when it has lost its entries on one side. A slice is the same order of the
// rows with the same slots, or the same tree, and smaller tables; slices are independent of each other.
#pragma once

#include "preprocess/frontier_steps.hpp"

#include <array>
#include <functional>

namespace libperm {

// A line that waits at a cut, and the side on which it is used.
struct FixedLine {
    std::int32_t cut;  // after this step of a path; above this node of a tree
    std::int32_t line; // a column by its slot; on a tree its number, rows first
    bool before;       // used by then, else later
};

// A line may be fixed again at another cut, between the entries that it still has.
using FrontierSlice = std::vector<FixedLine>;

// The program that computes such a slice.
FrontierProgram slice_of(const FrontierProgram &program, const FrontierSlice &slice);

// Whether there is such a slice: single lines that wait at their cuts, and some term of the permanent.
bool has_slice(const FrontierProgram &program, const FrontierSlice &slice);

struct SliceNeeds {
    double seconds = 0, bytes = 0;
};

struct SliceSearch {
    std::function<SliceNeeds(const FrontierProgram &)> needs;
    bool ranked = true;          // along a path: tables have a place for each set of columns, met or not
    double most_bytes = 0;       // of a slice
    double most_seconds = 1e300; // of all slices together
    std::size_t most_slices = std::size_t{1} << 16;
    double cut_seconds = 0; // that a cut is expected to take: all may take 5 s, or a 20th of the run
};

// The slices that fit, without those that no term of the permanent is in; one that fixes nothing if the
// program fits as it is. None: there are no slices within these limits. Deterministic.
std::vector<FrontierSlice> find_slices(const FrontierProgram &program, const SliceSearch &search);

// Where a program can be cut into slices, and what its tables come to: along a path, and on a tree.

// States after a step of a path, or of a tree's node. Those that a slice leaves of them when a line waits
// there no more are about the share of the lines that are used, or are not.
struct SliceTable {
    double states = 0, work = 0; // that goes with the states
    std::int32_t width = 0, used = 0;
};

// What a cut does to the tables in which the line waits: on either side it is gone from some of them.
struct SliceCut {
    struct Closed {
        std::int32_t table;
        bool used; // the line, as in SliceTable
    };
    FixedLine fixed;
    std::array<std::vector<Closed>, 2> closed; // if it is used later; before
};

FrontierProgram path_slice(const FrontierProgram &program, const FrontierSlice &slice);
bool has_path_slice(const FrontierProgram &program, const FrontierSlice &slice);
std::vector<SliceTable> path_tables(const FrontierProgram &program, bool ranked);
std::vector<SliceCut> path_cuts(const FrontierProgram &program,
                                std::int32_t table); // of lines that wait there

FrontierProgram branch_slice(const FrontierProgram &program, const FrontierSlice &slice);
bool has_branch_slice(const FrontierProgram &program, const FrontierSlice &slice);
std::vector<SliceTable> branch_tables(const FrontierProgram &program);
std::vector<SliceCut> branch_cuts(const FrontierProgram &program, std::int32_t table);

} // namespace libperm
