// What is wrong in a file of a matrix.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace perm {

// what() is "NAME:LINE: what is wrong, what was expected", or "NAME: ..." of files without lines and of those
// that cannot be opened.
class FileError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// For those who refuse a file that is another's.
constexpr const char *other_formats =
    ".csv or .tsv (numbers in rows), .npy, .npz, .edges ('u v' or 'u v w' of a graph), .dimacs or .col";

// A word of the file fit for an error message, whatever bytes it holds.
std::string quoted(std::string_view word);

std::string lower_case(std::string_view word);

} // namespace perm
