// Cells of matrices that repeat, by name: lattices, whose permanents count perfect matchings, and bands of
// ones.
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/periodic/cell/periodic_matrix.hpp"
#include "preprocess/limits.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace libperm {

// A cell in compressed sparse rows (perm.h): entries count edges, two of which may join the same vertices.
struct LatticeCell {
    std::int64_t rows = 0, reach = 0; // coupled to so many cells on either side
    std::vector<std::int64_t> row_ptr{0}, col_idx, values;

    std::int64_t columns() const { return rows * (2 * reach + 1); }
};

// "grid:8", "grid:3x4", "ring:4", "ring:4x6", "hexagonal:4", "circulant:5", "toeplitz:2,3". Throws Error
// (PERM_BAD_OPTION), with what can be said instead.
//
// Of a lattice the rows are the black vertices and the columns the white ones. Of a cross-section with a side
// of even length a cell is one layer, every other one seen in a mirror, which swaps the colours; else it is
// two layers.
LatticeCell lattice_cell(const std::string &name);

// A plain matrix that is one of equal cells: block Toeplitz, but for some rows at its head and its tail, or
// block circulant.

struct RecognizedCells {
    PeriodicMatrix matrix; // its permanent, of so many cells, is that of the plain matrix
    std::int64_t length = 0;
};

// None where the matrix is short, its cells are large, their rows reach far or not to other cells, or it is
// another. Of such that
// are not of equal cells hardly more than two rows are looked at.
std::optional<RecognizedCells> recognized_cells(const Pattern &a, const Values &values);

} // namespace libperm
