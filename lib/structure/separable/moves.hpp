// The moves of a walk through a matrix: rows and columns come in their order, and lines that wait are counted
// with those that are alike. Beside a band, along which they come in pairs, a line is known by itself as long
// as the band is not behind it.
#pragma once

#include "lib/structure/separable/generators.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

struct WalkShape {
    std::vector<ComingLines> steps;
    std::size_t n = 0;
    LineKinds rows, cols;
    bool is_transposed = false; // rows are below the diagonal: the transpose has the same permanent

    bool has_band() const { return rows.width > 0 || cols.width > 0; }
    // Lines that may be known at once. Beside a band a column is known until its own row has come.
    std::size_t known_rows() const { return rows.width; }
    std::size_t known_cols() const { return has_band() ? cols.width + 1 : 0; }
};
// With fewer kinds of rows than of columns, as the inner loop is one over columns; else with the wider side
// as rows, which leave the band before the next one comes.
WalkShape walk_shape(std::vector<ComingLines> steps, const LineKinds &above, const LineKinds &below);

// Numbers of rows that are counted.
struct WaitingRange {
    std::ptrdiff_t lead = 0; // more rows than columns are counted
    std::ptrdiff_t first = 0, last = -1;

    bool is_empty() const { return last < first; }
    std::ptrdiff_t columns(std::ptrdiff_t w) const { return w - lead; } // that are counted beside w rows
};

// What has come so far of one side, and what has left: the lines between are known by themselves.
struct LinesSoFar {
    std::size_t come = 0, left = 0;

    std::size_t known() const { return come - left; }
};

// One line comes, or the first that is known leaves to be counted, or one does both at once.
struct WalkMove {
    bool is_row = false, comes = false, leaves = false;
    bool has_pair = false; // of a column and a row that come at one step, and are counted at once
    std::size_t line = 0;  // the step at which it comes
    LinesSoFar rows, cols; // behind this move
    double products = 0;   // that it takes

    const LinesSoFar &own() const { return is_row ? rows : cols; }
    const LinesSoFar &others() const { return is_row ? cols : rows; }
    bool stays_known() const { return comes && !leaves; }
};

// What may be counted behind the move while so many of the known rows and columns wait: no more than has
// left, or than can still be matched.
WaitingRange waiting_range(const WalkShape &shape, const WalkMove &move, std::size_t rows, std::size_t cols);

// What a walk does, by step. A column takes known rows, then the first of these may leave before the next
// comes; a row takes known columns, its own among them.
struct WalkMoves {
    std::vector<std::vector<WalkMove>> steps;
    double products = 0, most_beside_a_set = 0; // in all; numbers, at most
};
WalkMoves moves_of(const WalkShape &shape);

// Ways to divide a total among kinds, numbered: what a state of waiting lines is on one side of the diagonal.

// The number of ways to divide a total among so many kinds, C(total + kinds - 1, kinds - 1).
std::size_t divisions_of(std::size_t total, std::size_t kinds);

// A division's number depends on the counts of all kinds but the first, with r of them together before those
// with r + 1: so divisions of any total w have the numbers 0 .. divisions_of(w) - 1 of one table, and one of
// the first kind more, or less, changes the total alone.
class Divisions {
  public:
    static constexpr std::uint32_t none = UINT32_MAX;

    // Of totals up to `most`, among 3 kinds at most.
    Divisions(std::size_t kinds, std::size_t most);

    std::uint32_t count(std::size_t kind, std::size_t total, std::size_t division) const {
        return kind == 0 ? static_cast<std::uint32_t>(total) - others_[division] : counts_[kind][division];
    }
    // By division, the count of a kind; of the first kind that of all others.
    const std::vector<std::uint32_t> &told(std::size_t kind) const {
        return kind == 0 ? others_ : counts_[kind];
    }
    // By division, that with one more, or one less, of a kind. One less of the first kind has the same
    // number, which is too large for the lesser total where there is no such division; of other kinds it is
    // none.
    const std::vector<std::uint32_t> &more(std::size_t kind) const { return more_[kind]; }
    const std::vector<std::uint32_t> &less(std::size_t kind) const { return less_[kind]; }

  private:
    std::vector<std::uint32_t> others_; // all but the first kind
    std::array<std::vector<std::uint32_t>, 3> counts_, more_, less_;
};

} // namespace libperm
