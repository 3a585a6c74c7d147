// Permutations of a cell's rows and columns under which the endless matrix is the same, also seen from its
// other end.
#pragma once

#include "lib/periodic/cell/periodic_matrix.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

using ColumnMap = std::vector<std::int32_t>;

// a[i, j, cell] = a[row(i), column(j), cell], or, reversed, -cell; what rows become follows from the columns.
struct CellSymmetry {
    ColumnMap column;
    bool reversed = false;
};

// Some that generate the others; of large cells, or where it takes long, none. Colours are refined until they
// tell all lines apart (McKay and Piperno, J. Symbolic Comput. 60 (2014), section 2).
std::vector<CellSymmetry> symmetries_of(const PeriodicMatrix &a);

// A map that takes turns from cell to cell. Of odd cells it is that of even ones and then the twist.
struct TurningSymmetry {
    ColumnMap of_even_cells, of_odd_cells;
    std::uint32_t twist = 0; // a product of the maps before it, a bit for each; of none it does not turn
};

// Maps of order two that commute with each other, each independent of those before it; `twist` is one of
// those that do not turn. Where the layers of a lattice are seen in a mirror by turns, its diagonal is such a
// map.
std::vector<TurningSymmetry> commuting_symmetries(const PeriodicMatrix &a);

} // namespace libperm
