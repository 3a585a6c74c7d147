// A matrix that repeats: cells of as many rows as columns, each row coupled to columns of the cells around
// its own, and what may stand before the first cell and behind the last (docs/periodic.md).
#pragma once

#include "lib/input/matrix.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/numbers.hpp"

#include <cstdint>
#include <perm.h>
#include <vector>

namespace libperm {

// Column `column` of a cell: of the one that stands so many cells further than the row's; of an end's row, of
// the cell with this number, counted from the first cell or, at the tail, from the one behind the last.
struct PeriodicEntry {
    std::int32_t row, column, cell;
    friend bool operator==(const PeriodicEntry &, const PeriodicEntry &) = default;
};

// Rows that stand before or behind all cells. Of the cells beyond the end, whose rows do not exist, as many
// columns exist as are said here: those next to it.
struct PeriodicEnd {
    std::int32_t rows = 0;
    std::int64_t columns = 0;
    std::vector<PeriodicEntry> entries;
    std::vector<Gaussian> values;

    bool is_there() const { return rows > 0 || columns > 0; }
    friend bool operator==(const PeriodicEnd &, const PeriodicEnd &) = default;
};

struct PeriodicMatrix {
    std::int32_t rows = 0; // of a cell, and its columns
    std::int32_t reach = 0;
    std::vector<PeriodicEntry> entries; // of a cell, none of them 0
    std::vector<Gaussian> values;
    PeriodicEnd head, tail;
    bool joined = false;

    bool is_nonnegative() const;
    bool is_real() const;
    bool has_integers() const;
    friend bool operator==(const PeriodicMatrix &, const PeriodicMatrix &) = default;
};

// Equal values have equal numbers.
std::vector<std::uint32_t> kinds_of(const std::vector<Gaussian> &values);

// With what it takes of the call's memory. Throws Error (PERM_BAD_ARGUMENT, PERM_BAD_MATRIX,
// PERM_UNSUPPORTED) and what the account does.
PeriodicMatrix read_periodic(const perm_periodic *given, MemoryAccount *account, Charge &charge);

// Permutations of a cell's rows and columns under which the endless matrix is the same, also seen from its
// other end.

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
