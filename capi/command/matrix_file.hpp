// Files of matrices: reading them in each format that the command takes, the matrix that they hold, with
// numbers that doubles do not hold, and how perm.h takes it.
#pragma once

#include "file_text.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <memory>
#include <optional>
#include <perm.hpp>
#include <string>
#include <utility>
#include <vector>

namespace perm {

// Where there are texts, the values of the Csr are left empty, so that it is no matrix without them.
struct FileMatrix : Csr {
    bool integers = false;          // the values are, all within 2^53
    std::vector<std::string> texts; // of PERM_VALUE_TEXT
    std::string note;               // what its reader has to tell; mostly nothing
};

// The same matrix without its explicit zeros.
Csr without_zeros(Csr a);
FileMatrix without_zeros(FileMatrix a);

// Valid while the matrix is neither changed nor destroyed.
class FileView {
  public:
    explicit FileView(const FileMatrix &a);
    FileView(const FileView &) = delete;
    FileView &operator=(const FileView &) = delete;

    const perm_csr &csr() const { return csr_; }

  private:
    std::vector<const char *> texts_;
    std::vector<std::int64_t> integers_;
    perm_csr csr_;
};

// The entries of a matrix in the order that a file gives them in, and the matrix that they make.

constexpr std::int64_t max_dimension = std::numeric_limits<std::int32_t>::max();

// What a file's content may take in memory: the size of one that is compressed does not tell it.
class FileRoom {
  public:
    FileRoom(std::string name, std::int64_t bytes) : name_(std::move(name)), bytes_(bytes) {}

    // Before they are allocated, with those that are needed for a moment only. Throws Error.
    void take(std::size_t bytes, std::size_t for_a_moment = 0);

    // For one more element.
    template <class T> void grow(std::vector<T> &elements) {
        if (elements.size() < elements.capacity()) return;
        const std::size_t more = std::max<std::size_t>(elements.capacity(), 16);
        take(more * sizeof(T), elements.capacity() * sizeof(T)); // both are there while one is moved
        elements.reserve(elements.capacity() + more);
    }

  private:
    std::string name_; // of the file
    std::int64_t bytes_, taken_ = 0;
};

// Why no file of so many entries is believed to hold a matrix of these dimensions; "" where it may.
std::string wrong_size(std::int64_t n_rows, std::int64_t n_cols, std::int64_t count);

// Nearly all are doubles, and there are many: a text is kept elsewhere.
struct FileEntry {
    std::int32_t row, col; // zero-based
    std::complex<double> value;
    std::unique_ptr<const std::string> text;
    std::int64_t place; // in the file: its line, or its number

    FileNumber number() const { return {value, text ? *text : std::string()}; }
};

class FileEntries {
  public:
    explicit FileEntries(FileRoom &room) : room_(room) {}

    void add(std::int64_t row, std::int64_t col, FileNumber number, std::int64_t place);
    std::size_t size() const { return entries_.size(); }
    const FileEntry &operator[](std::size_t k) const { return entries_[k]; }

    // Two entries of one position; of such the one that comes first in the file.
    struct Duplicate {
        const FileEntry &first, &second;
        const char *advice; // in place of giving each position once
    };
    // By rows, and by columns in each. Duplicates that are not refused become one entry.
    std::optional<Duplicate> sort(Duplicates duplicates, Field field);

    // Of sorted entries; one whose entries are not all 1 is no pattern.
    FileMatrix matrix(std::int64_t n_rows, std::int64_t n_cols, Field field) const;

  private:
    void add_up(Field field);

    FileRoom &room_;
    std::vector<FileEntry> entries_;
};

// Reads files of matrices in each format that the command takes. Strict: whatever a format does not allow is
// an error that names the line, since a matrix misread is a wrong permanent. Memory grows with what was read,
// never with what a file claims to hold. Columns are sorted inside each row, and a matrix that is not square
// is read like any other. Numbers are texts where they are to be as written, and integers where one of them
// is beyond 2^53. All throw FileError, and Error where the memory does not do.

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
