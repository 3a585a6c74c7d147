// Reads files of matrices in each format that the command takes. Strict: whatever a format does not allow is
// an error that names the line, since a matrix misread is a wrong permanent. Memory grows with what was read,
// never with what a file claims to hold. Columns are sorted inside each row, and a matrix that is not square
// is read like any other. Numbers are texts where they are to be as written, and integers where one of them
// is beyond 2^53. All throw FileError, and Error where the memory does not do.
#pragma once

#include "file_matrix.hpp"
#include "file_text.hpp"

#include <iosfwd>
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

// Matrix Market: coordinate and array, real, integer, complex and pattern, every symmetry. Symmetric files
// are expanded, explicit zeros of coordinate files are kept and zeros of array files left out.
FileMatrix read_matrix_market(std::istream &in, const std::string &name, const ReadOptions &options = {});

// Tables of numbers as text: a row of the matrix on each line, fields between commas, semicolons or tabs. The
// file is read twice, so the stream must be able to go back: first to see what its numbers are. Where all are
// integers they are exact, of any length. Fractions are exact as well, and with one of them all numbers are
// as written. A first line without any number is a header, which the matrix's note tells. Lines that begin
// with # are comments. Zeros are left out.
FileMatrix read_csv(std::istream &in, const std::string &name, const ReadOptions &options = {});

// The symmetric matrix of a graph that is an edge on each line, 'u v' or 'u v w' with its weight. The lines
// of the matrix are the vertices that occur, which are integers, in ascending order. Lines that begin with #
// or % are comments.
FileMatrix read_edges(std::istream &in, const std::string &name, const ReadOptions &options = {});

// As DIMACS has graphs: 'p edge VERTICES EDGES', then 'e u v' or 'e u v w'. Some files count each edge twice.
FileMatrix read_dimacs(std::istream &in, const std::string &name, const ReadOptions &options = {});

// An array as numpy.save writes it, of two dimensions; zeros are left out. Integers and bool are exact.
FileMatrix read_npy(std::istream &in, const std::string &name, const ReadOptions &options = {});

// The matrix of a .npz file: one that scipy.sparse.save_npz wrote, by rows, columns, blocks, diagonals or
// coordinates, or the only array of numpy.savez; of a stream that can seek. Zeros are kept as scipy keeps
// them, but for those that fill blocks and diagonals.
FileMatrix read_npz(std::istream &in, const std::string &name, const ReadOptions &options = {});

} // namespace perm
