// Reads graphs as texts that list their edges: the symmetric matrix of each.
#pragma once

#include "file_matrix.hpp"
#include "file_number.hpp"

#include <iosfwd>
#include <string>

namespace perm {

// An edge on each line, 'u v' or 'u v w' with its weight. The lines of the matrix are the vertices that
// occur, which are integers, in ascending order. Lines that begin with # or % are comments. Throws as
// read_matrix_market.
FileMatrix read_edges(std::istream &in, const std::string &name, const ReadOptions &options = {});

// As DIMACS has graphs: 'p edge VERTICES EDGES', then 'e u v' or 'e u v w'. Some files count each edge twice.
FileMatrix read_dimacs(std::istream &in, const std::string &name, const ReadOptions &options = {});

} // namespace perm
