// Cells of matrices that repeat, by name: lattices, whose permanents count perfect matchings, and bands of
// ones.
#pragma once

#include <perm.hpp>

#include <string>

namespace perm {

// "grid:8", "grid:3x4", "ring:4", "ring:4x6", "hexagonal:4", "circulant:5", "toeplitz:2,3". Throws Error
// (PERM_BAD_OPTION), with what can be said instead.
//
// Of a lattice the rows are the black vertices and the columns the white ones. Of a cross-section with a side
// of even length a cell is one layer, every other one seen in a mirror, which swaps the colours; else it is
// two layers.
Csr lattice_cell(const std::string &name);

} // namespace perm
