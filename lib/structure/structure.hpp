// What a block's values have in common beyond its pattern, where that makes its permanent polynomial: found
// anew for each block, by exact comparisons, so that what is found holds.
#pragma once

#include "lib/structure/separable/generators.hpp"
#include "preprocess/block.hpp"
#include "preprocess/index.hpp"
#include "preprocess/pattern.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace libperm {

constexpr std::int32_t most_classes = 4; // of rows, and of columns

// A = B + L with few entries in B. Rows and columns are of few classes, and L_ij is u_i C_ab v_j for row i of
// class a and column j of class b; with one class of each it is u_i v_j but for a factor. An entry that B has
// not is L_ij, also one that is 0.
struct Background {
    Pattern beside;                                 // where B may not be 0; no rows: there is no background
    std::vector<std::int32_t> base_rows, base_cols; // by class: u_i = 1, v_j = 1, so that C is their entries
    std::vector<std::int32_t> row_class, col_class; // by line
    std::vector<std::int32_t> col_of_row; // by other row: a_ij says u_i for this column j; -1: u_i = 0
    std::vector<std::int32_t> row_of_col; // by other column: a_ij says v_j for this row i; -1: v_j = 0

    auto as_tuple() const {
        return std::tie(base_rows, base_cols, row_class, col_class, col_of_row, row_of_col, beside.rows,
                        beside.row_ptr, beside.col);
    }
    friend bool operator==(const Background &x, const Background &y) { return x.as_tuple() == y.as_tuple(); }
};

constexpr std::int32_t most_rank = 6;

// A = C G^-1 R: C has the columns `cols` of A, R the rows `rows`, G what both have. As many as the rank.
struct LowRank {
    std::vector<std::int32_t> rows, cols; // ascending; none: the rank is not low
    bool operator==(const LowRank &) const = default;
};

// Low rank on both sides of a staircase, or of a band, in this order of the lines.
struct Separable {
    LineOrder order;                  // no steps: there is none that was found
    std::size_t above = 0, below = 0; // kinds of lines that wait, on either side
    Band band;                        // of pairs
    bool operator==(const Separable &) const = default;
};

constexpr std::int8_t no_integer = -128;

struct Structure {
    Background background;
    LowRank low_rank;
    Separable separable;
    // r_i b_ij c_j with small integers b_ij: these, by entry; none: they are not, or large, or of many lines.
    // An entry may be 0. Where no_integer is among them, in a few rows or a few columns, all others are the
    // multiples of one number. Not compared: whoever computes with them compares them (EnginePlan::is_for),
    // others need not.
    std::vector<std::int8_t> integers;
    bool nearly_rank_one = false; // no entry is negative or 0, and all are u_i v_j up to some roundings
    // Rows whose entries are all in the next one's, in this order, and u_i v_j: a Ferrers board. None: it is
    // not.
    std::vector<std::int32_t> nested;

    bool is_separable() const { return !separable.order.rows.empty(); }
    bool has_background() const { return background.beside.rows > 0; }
    bool is_none() const { return *this == Structure(); }
    friend bool operator==(const Structure &x, const Structure &y) {
        return x.background == y.background && x.low_rank == y.low_rank && x.separable == y.separable &&
               x.nearly_rank_one == y.nearly_rank_one && x.nested == y.nested;
    }
};

inline std::int64_t bytes_of(const Structure &x) {
    const Background &b = x.background;
    return static_cast<std::int64_t>(sizeof x) + bytes_of(b.beside) +
           4 * (4 * std::ssize(b.col_of_row) + std::ssize(x.nested) + 2 * std::ssize(x.low_rank.rows) +
                4 * std::ssize(x.separable.order.rows)) +
           std::ssize(x.integers);
}

// The few entries that a structure is made of, as an engine reads them of residues.

constexpr std::int64_t no_entry = -1;

// Its number in the pattern, or no_entry: it is 0.
inline std::int64_t entry_at(const Pattern &a, std::int32_t i, std::int32_t j) {
    const auto row = a.row(i);
    const auto place = std::lower_bound(row.begin(), row.end(), j);
    return place == row.end() || *place != j ? no_entry : a.row_begin(i) + (place - row.begin());
}

class EntriesRead {
  public:
    EntriesRead() = default;
    // Any, in any order; no_entry is left out.
    explicit EntriesRead(std::vector<std::int64_t> entries) : entries_(std::move(entries)) {
        std::erase(entries_, no_entry);
        std::sort(entries_.begin(), entries_.end());
        entries_.erase(std::unique(entries_.begin(), entries_.end()), entries_.end());
    }

    const std::vector<std::int64_t> &all() const { return entries_; }
    // Of one matrix's residues, which are by the order of all().
    std::uint64_t value(const std::vector<std::uint64_t> &residues, std::int64_t entry) const {
        if (entry == no_entry) return 0;
        return residues[at(std::lower_bound(entries_.begin(), entries_.end(), entry) - entries_.begin())];
    }

  private:
    std::vector<std::int64_t> entries_;
};

} // namespace libperm
