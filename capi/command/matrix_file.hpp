// Reads files of matrices in each format that the command takes.
#pragma once

#include "file_matrix.hpp"
#include "file_number.hpp"

#include <string>

namespace perm {

// By the options' format, or else by the name's ending: .csv and .tsv, .npy, .npz, .edges, .dimacs and .col,
// each other as Matrix Market; .gz behind it, but for .npz. "-" is the standard input. What a compressed file
// holds is kept within the options' memory. Throws FileError, and Error where the memory does not do.
FileMatrix read_matrix_file(const std::string &path, ReadOptions options = {});

// Whether it is read as edges of a graph.
bool is_graph_file(const std::string &path, const std::string &format);

// A text of the library, whose rows and columns count from 0, with those of the file: from 1, but in numpy's.
std::string in_terms_of_file(std::string text, const std::string &path, const std::string &format);

} // namespace perm
