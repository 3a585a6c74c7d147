// A matrix with repeated lines, or with lines that may stay unmatched, as a square one without.
#pragma once

#include "lib/input/input_pattern.hpp"
#include "preprocess/memory_account.hpp"
#include "preprocess/poll.hpp"

namespace libperm {

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
