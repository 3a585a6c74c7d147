// Reads Matrix Market files: coordinate and array, real, integer, complex and pattern, every symmetry.
// Strict: whatever the format does not allow is an error that names the line, since a matrix misread is a
// wrong permanent.
#pragma once

#include "file_matrix.hpp"
#include "file_number.hpp"

#include <iosfwd>
#include <string>

namespace perm {

// Symmetric files are expanded, columns are sorted inside each row, explicit zeros of coordinate files are
// kept and zeros of array files left out. A matrix that is not square is read like any other. Memory grows
// with what was read, never with what the size line claims. Numbers are texts where they are to be as
// written, and integers where one of them is beyond 2^53. Throws FileError, and Error where the memory does
// not do.
FileMatrix read_matrix_market(std::istream &in, const std::string &name, const ReadOptions &options = {});

} // namespace perm
