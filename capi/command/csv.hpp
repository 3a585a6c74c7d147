// Reads tables of numbers as text: a row of the matrix on each line, fields between commas, semicolons or
// tabs. Strict, as the reader of Matrix Market files is.
#pragma once

#include "file_matrix.hpp"
#include "file_number.hpp"

#include <iosfwd>
#include <string>

namespace perm {

// The file is read twice, so the stream must be able to go back: first to see what its numbers are. Where all
// are integers they are exact, of any length. Fractions are exact as well, and with one of them all numbers
// are as written. A first line without any number is a header, which the matrix's note tells. Lines that
// begin with # are comments. Zeros are left out. Throws as read_matrix_market.
FileMatrix read_csv(std::istream &in, const std::string &name, const ReadOptions &options = {});

} // namespace perm
