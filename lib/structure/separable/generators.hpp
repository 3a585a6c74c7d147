// Generators of quasi-separable matrices modulo a prime: of those whose blocks right above the diagonal, and
// right below it, have low ranks (Eidelman and Gohberg, Integral Equations Operator Theory 34 (1999)). The
// diagonal may be anything, and so may a band of a few diagonals around it.
#pragma once

#include "lib/number/residues.hpp"
#include "preprocess/limits.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace libperm {

constexpr std::size_t most_kinds = 3; // of lines that wait, on each side of the diagonal
constexpr std::size_t most_band = 3;  // diagonals of a band, on each side of the main one

// How many diagonals may be anything beside the main one.
struct Band {
    std::size_t above = 0, below = 0;

    bool is_none() const { return above == 0 && below == 0; }
    bool operator==(const Band &) const = default;
};

// Of lines of one side: how many kinds, and for how many steps they are known by themselves.
struct LineKinds {
    std::size_t kinds = 0, width = 0;
};

// A dense matrix modulo a prime, by row.
struct DenseResidues {
    std::size_t n = 0;
    std::uint64_t prime = 0;           // odd, below 2^62
    std::vector<std::uint64_t> values; // 0 .. prime - 1
};

// A walk through the matrix from its first row and column to its last: at each step comes a row, a column, or
// one of each, whose entry is then on the diagonal. Entries of a row and a column behind it are above the
// diagonal.
struct LineOrder {
    std::vector<std::size_t> rows, cols; // by step: which row and which column comes, or no_line
    bool operator==(const LineOrder &) const = default;
};
constexpr std::size_t no_line = SIZE_MAX;
LineOrder order_as_given(std::size_t n); // pairs

struct ComingLines {
    bool row = false, col = false; // whether such a line comes
};
std::vector<ComingLines> steps_of(const LineOrder &order);

// The entries on one side of the diagonal, each between what comes at a step i and what comes at a later step
// j. In the band, where j - i <= width, it is near[j][j - i - 1]. Beyond it is the sum of opens[i + width][t]
// closes[j][t] over the kinds t: a line is of some kind once the band is behind it. That holds for kinds that
// have not ended at i + width, ..., j - 1: what is opened and closed behind an end has nothing to do with
// what was opened before.
struct Triangle {
    using OfKinds = std::array<std::uint64_t, most_kinds>;
    using OfBand = std::array<std::uint64_t, most_band>;

    std::size_t kinds = 0, width = 0;
    std::vector<OfKinds> opens, closes;
    std::vector<std::uint8_t> ends; // by step: bit t tells that no later one closes what kind t has opened
    std::vector<OfBand> near;       // none where there is no band
};

struct Generators {
    std::uint64_t prime = 0;
    std::vector<ComingLines> steps;
    std::vector<std::uint64_t> diagonal; // by step
    Triangle above, below;               // rows open what columns close, and columns open what rows close
};

enum class Side { above, below };

// Of the matrix in that order, beside a band of that width, which pairs may have; none: it needs more kinds.
// It needs one more at most than the greatest rank of a block there, and never more than a matrix of the
// least rank with the same entries. What is found is right modulo the prime, as each entry has been compared.
// In O(n^2), and mostly O(n) where there are none.
std::optional<Triangle> triangle_of(const DenseResidues &matrix, const LineOrder &order, Side side,
                                    const LineKinds &most);

// Of both sides, with as many kinds as there may be.
std::optional<Generators> generators_of(const DenseResidues &matrix, const LineOrder &order);
std::optional<Generators> generators_of(const DenseResidues &matrix, const LineOrder &order,
                                        const Band &band);

// A walk in which rows and columns come by turns, as the matrix says: few kinds of lines wait on it.
//
// With the fewest kinds that are found, about; none: more than `most_kinds` on a side. `order` has pairs. A
// matrix of rank r has r kinds on one side and none on the other: all its rows come first.
std::optional<LineOrder> path_through(const DenseResidues &matrix, const LineOrder &order);

// Lines of one side of the diagonal modulo a prime, reduced so that no two have their last entry at one
// place: those that still reach behind a place are independent there.

class Echelon {
  public:
    static constexpr std::size_t nowhere = SIZE_MAX;

    explicit Echelon(std::uint64_t prime) : field_(prime) {}

    // Lines whose last entry is before this place are left out, and their kinds may be used again.
    void leave_out_before(std::size_t place);

    // Subtracts multiples of the lines, so that entries from place `from` on become 0 where they can; each
    // multiple is told: `told(kind, factor)`. The place of the last entry that is left, or nowhere.
    template <class Told>
    std::size_t reduce(std::vector<std::uint64_t> &line, std::size_t from, const Told &told) const {
        for (const Line &other : lines_) { // the one that reaches furthest comes first
            if (other.last < from) break;
            const std::uint64_t factor = field_.to(field_.multiply(line[other.last], other.inverse));
            if (factor == 0) continue;
            told(other.kind, field_.from(factor));
            for (std::size_t j = from; j <= other.last; ++j)
                line[j] = field_.subtract(line[j], field_.multiply(factor, other.values[j]));
        }
        for (std::size_t j = line.size(); j > from; --j)
            if (line[j - 1] != 0) return j - 1;
        return nowhere;
    }

    // Adds a line that has been reduced, of the first kind below `kinds` that is free; none: all are taken.
    std::optional<std::size_t> add(const std::vector<std::uint64_t> &line, std::size_t last,
                                   std::size_t kinds);

  private:
    struct Line {
        std::size_t kind = 0, last = 0;
        std::uint64_t inverse = 0; // of the last entry, in Montgomery's form
        std::vector<std::uint64_t> values;
    };

    Montgomery field_;
    std::vector<Line> lines_;
};

// Of rows of n numbers in Montgomery's form, as many as there are columns named: by Gauss and Jordan these
// become the columns of 1. False: their minor is 0.
template <class Columns>
bool solve_for(const Montgomery &field, std::vector<std::uint64_t> &rows, std::size_t n,
               const Columns &columns) {
    const std::size_t r = columns.size();
    for (std::size_t t = 0; t < r; ++t) {
        const auto col = static_cast<std::size_t>(columns[t]);
        std::uint64_t *const own = rows.data() + t * n;
        std::size_t pivot = t;
        while (pivot < r && rows[pivot * n + col] == 0) ++pivot;
        if (pivot == r) return false;
        if (pivot != t) std::swap_ranges(own, own + n, rows.data() + pivot * n);
        const std::uint64_t inverse = field.power(own[col], field.prime() - 2);
        for (std::size_t j = 0; j < n; ++j) own[j] = field.multiply(own[j], inverse);
        for (std::size_t other = 0; other < r; ++other) {
            std::uint64_t *const row = rows.data() + other * n;
            const std::uint64_t by = row[col];
            if (other == t || by == 0) continue;
            for (std::size_t j = 0; j < n; ++j) row[j] = field.subtract(row[j], field.multiply(by, own[j]));
        }
    }
    return true;
}

} // namespace libperm
