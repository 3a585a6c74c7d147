// Where a program can be cut into slices, and what its tables come to: along a path, and on a tree.
#pragma once

#include "preprocess/frontier_slices.hpp"

#include <array>

namespace libperm {

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
