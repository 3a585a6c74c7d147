// Permutations of a cell's rows and columns under which the endless matrix is the same, also seen from its
// other end.
#pragma once

#include "lib/periodic/periodic_matrix.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// a[i, j, cell] = a[row(i), column(j), cell], or, reversed, -cell; what rows become follows from the columns.
struct CellSymmetry {
    std::vector<std::int32_t> column;
    bool reversed = false;
};

// Some that generate the others; of large cells, or where it takes long, none. Colours are refined until they
// tell all lines apart (McKay and Piperno, J. Symbolic Comput. 60 (2014), section 2).
std::vector<CellSymmetry> symmetries_of(const PeriodicMatrix &a, const Poll &poll);

} // namespace libperm
