// How many lines of each kind wait beside a set of known lines, and sums of such states: what each move of a
// walk with a band comes to.
#pragma once

#include "lib/number/montgomery.hpp"
#include "lib/structure/separable/band_moves.hpp"
#include "lib/structure/separable/divisions.hpp"
#include "lib/structure/separable/generators.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

// Slices of so many rows that are counted: a line for each of the rows' divisions, with the columns'
// divisions and a 0 behind them.
struct BandStates {
    WaitingRange range;
    std::vector<std::size_t> begins; // of slices
    std::vector<std::uint64_t> numbers;

    // The slice of w rows, or none.
    const std::uint64_t *slice(std::ptrdiff_t w) const {
        if (w < range.first || w > range.last) return nullptr;
        return numbers.data() + begins[static_cast<std::size_t>(w - range.first)];
    }
};

// What is added to each state: a multiple of the state that has the same lines, or one more of some kind,
// times how many it has, or one less.
struct StateSource {
    enum class Way { same, more_rows, fewer_rows, more_cols, fewer_cols };

    const BandStates *from = nullptr;
    std::uint64_t factor = 0; // in Montgomery's form
    Way way = Way::same;
    std::size_t kind = 0;
};

constexpr std::size_t most_sources = most_kinds + most_band + 1;

class BandSums {
  public:
    BandSums(const Montgomery &field, const BandShape &shape);

    // At most `most_sources`.
    BandStates sum(const WaitingRange &range, const std::vector<StateSource> &sources);
    // They are not needed any more. Their memory is, as fresh pages cost as much as the sums.
    void take_back(BandStates &&states);
    // States with lines of these kinds, a bit each, become 0.
    void leave_out(BandStates &states, unsigned rows, unsigned cols) const;
    // What that sum costs, in products.
    double products(const BandStates &states, std::size_t sources) const;

  private:
    // A source as a slice reads it, by line; of other columns, by place in the line.
    struct SliceSource {
        const StateSource *source = nullptr;
        const std::uint64_t *numbers = nullptr;
        std::size_t line_size = 0;
    };

    std::size_t row_divisions(std::ptrdiff_t w) const;
    std::size_t col_divisions(std::ptrdiff_t columns) const;
    void fill(std::ptrdiff_t w, std::ptrdiff_t columns, const std::vector<StateSource> &sources,
              std::uint64_t *to);
    void find_in_reach(std::ptrdiff_t w, const std::vector<StateSource> &sources);
    void find_places(const StateSource &source, std::ptrdiff_t columns, std::size_t k);
    void fill_line(std::ptrdiff_t w, std::size_t line, std::size_t size, std::uint64_t *to) const;

    Montgomery field_;
    BandShape shape_;
    Divisions rows_, cols_;
    std::vector<std::uint64_t> counts_; // 0, 1, 2, ... in Montgomery's form
    std::size_t most_numbers_;
    std::vector<std::vector<std::uint64_t>> spare_; // each with room for so many
    // Of a slice.
    std::vector<SliceSource> by_line_, by_place_;
    std::array<std::vector<std::uint32_t>, most_kinds> places_; // of each of by_place_
    std::array<std::vector<std::uint64_t>, most_kinds> factors_;
};

} // namespace libperm
