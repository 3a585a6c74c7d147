// Cells of matrices that repeat, by name: lattices, whose permanents count perfect matchings, and bands of
// ones.
#pragma once

#include <cstdint>
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

} // namespace libperm
