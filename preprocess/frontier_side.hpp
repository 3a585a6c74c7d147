// The two matrices the frontier can run through: A with its equal columns merged into kinds, and A^T with its
// own, which are the equal rows of A.
#pragma once

#include "preprocess/pattern.hpp"
#include "preprocess/repeated_lines.hpp"

#include <array>

namespace libperm {

struct FrontierSide {
    bool transposed = false;
    Pattern rows;                           // every row of A or A^T, over kinds of columns
    Pattern columns;                        // its transpose
    std::vector<std::int32_t> multiplicity; // columns of each kind
    std::vector<std::int64_t> entry;        // of `rows`: the entry of A that all of the kind equal there

    bool counted() const { return rows.cols < rows.rows; } // some kind has several columns
};

// A, then A^T. Kinds are numbered in the order of their lowest column; without equal columns `rows` is the
// matrix itself.
std::array<FrontierSide, 2> frontier_sides(const Pattern &a, const LineClasses &kinds);

} // namespace libperm
