// Reads the matrix of a .npz file: one that scipy.sparse.save_npz wrote, by rows, columns, blocks, diagonals
// or coordinates, or the only array of numpy.savez.
#pragma once

#include "file_matrix.hpp"
#include "file_number.hpp"

#include <iosfwd>
#include <string>

namespace perm {

// Of a stream that can seek. Zeros are kept as scipy keeps them, but for those that fill blocks and
// diagonals. Throws as read_matrix_market.
FileMatrix read_npz(std::istream &in, const std::string &name, const ReadOptions &options = {});

} // namespace perm
