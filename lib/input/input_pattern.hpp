// The caller's matrix, as the library has it: its entries, square, where their values come from, and what
// they were before they were written out.
#pragma once

#include "preprocess/limits.hpp"
#include "preprocess/numbers.hpp"
#include "preprocess/pattern.hpp"

#include <cstdint>
#include <memory>
#include <perm.h>
#include <vector>

namespace libperm {

struct InputPattern {
    Pattern pattern; // square, columns ascending in each row
    // Entry k of `pattern` was the caller's source[k], or that of `written`; empty: k itself. -1: a 1 that
    // was added.
    std::vector<std::int64_t> source;
    std::shared_ptr<const InputPattern>
        written; // as the caller did, if lines were repeated, left out or added
    perm_value_type value_type = PERM_VALUE_F64;
    // The caller's weights of leaving a row, a column unmatched stand behind the values of the entries.
    bool row_weights = false, col_weights = false;
    // The last rows, or the last columns: equal, and added for lines that stay unmatched.
    // The permanent is that of the whole over the factorial of their number.
    std::int32_t free_rows = 0, free_columns = 0;
    bool repeats = false;    // some rows or columns are copies of each other
    bool multiplied = false; // multiplicities were given

    std::int32_t free_lines() const { return free_rows + free_columns; }
};

// Before lines were repeated, left out or added.
inline const InputPattern &as_given(const InputPattern &input) {
    return input.written ? *input.written : input;
}

// The matrix as the caller gave it holds so many entries and weights.
inline std::int64_t value_count(const InputPattern &given) {
    return given.pattern.nnz() + (given.row_weights ? given.pattern.rows : 0) +
           (given.col_weights ? given.pattern.cols : 0);
}

// The entries, in the pattern's order.
struct Values {
    std::vector<double> real;   // if they all fit
    std::vector<Gaussian> wide; // else

    bool empty() const { return real.empty() && wide.empty(); }
};

// What is computed of a matrix: the sum over matchings of its rows to its columns; of its lines to each
// other; of these where a line may also stay single, at the price of its loop.
enum class MatrixFunction { permanent, hafnian, loop_hafnian };
inline const char *function_name(MatrixFunction function) {
    return function == MatrixFunction::permanent ? "permanent"
           : function == MatrixFunction::hafnian ? "hafnian"
                                                 : "loop_hafnian";
}
inline const char *in_words(MatrixFunction function) {
    return function == MatrixFunction::loop_hafnian ? "loop hafnian" : function_name(function);
}

// How often each line stands in the matrix. As long as the caller's numbers: of none no list is made, for a
// matrix may have 2^31 columns and two entries.
class LineCounts {
  public:
    // `given` may be null: each once. `what`: "row" or "col". Throws Error.
    LineCounts(const std::int64_t *given, std::int64_t lines, const char *what);
    std::int64_t operator[](std::int64_t line) const { return given_ ? given_[line] : 1; }
    std::int64_t sum() const { return sum_; }

  private:
    const std::int64_t *given_;
    std::int64_t sum_;
};

// Row i row_count[i] times, column j column_count[j] times, R and C in all, with what makes it square, so
// that
//
//     sum over matchings of (entries in it) (weights of lines not in it) = permanent / f!,   f = free lines:
//
//   only rows may stay unmatched (or R > C, and nothing is said: with weight 1): R - C free columns, in each
//   the
//     rows' weights. Whoever stays unmatched takes one of them;
//   only columns may (or R < C): C - R free rows, in each the columns' weights;
//   both: also a row for each column, with its weight there and 1 in the free columns, of which there are R:
//   either it
//     keeps the column, or is free itself. Or all of it transposed. What the frontier goes along is the
//     longer side, its states are sets of the other.
//     A line without entries keeps its weight, in a line of its own, and no other stands beside it.
//
// Where fewer lines may stay unmatched than there are too many, empty lines: the permanent is 0.
InputPattern written_out(InputPattern given, const LineCounts &row_count, const LineCounts &column_count,
                         MemoryAccount *account);

} // namespace libperm
