// Reads Matrix Market files: coordinate and array, real, integer and pattern, every symmetry. Strict:
// whatever the format does not allow is an error that names the line, since a matrix misread is a wrong
// permanent.
#pragma once

#include <perm.hpp>

#include <iosfwd>
#include <stdexcept>
#include <string>

namespace perm {

// what() is "NAME:LINE: what is wrong, what was expected" ("NAME: why" when the file cannot be opened or is a
// directory).
class MatrixMarketError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Symmetric files are expanded, columns are sorted inside each row, explicit zeros of coordinate files are
// kept and zeros of array files left out. A matrix that is not square is read like any other. Memory grows
// with what was read, never with what the size line claims.
Csr read_matrix_market(std::istream &in, const std::string &name);

// The same from a file; "-" is the standard input.
Csr read_matrix_market_file(const std::string &path);

// The same matrix without its explicit zeros.
Csr without_zeros(Csr a);

} // namespace perm
