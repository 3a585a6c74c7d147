#include "lib/structure/separable/band_price.hpp"

#include "lib/structure/separable/divisions.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace libperm {
namespace {

// So many states stand beside one set of known lines, in any of its ranges.
class CountsByLead {
  public:
    explicit CountsByLead(const BandShape &shape) : shape_(shape) {}

    StateCount of(const WaitingRange &range) {
        if (range.is_empty()) return {};
        const std::vector<StateCount> &before = all_before(range.lead);
        const StateCount &first = before[static_cast<std::size_t>(range.first)],
                         &last = before[static_cast<std::size_t>(range.last + 1)];
        return {last.states - first.states, last.lines - first.lines};
    }

  private:
    // Of fewer than w counted rows, by w.
    const std::vector<StateCount> &all_before(std::ptrdiff_t lead) {
        std::vector<StateCount> &before = before_[lead];
        if (!before.empty()) return before;
        StateCount sum;
        before.push_back(sum);
        for (std::ptrdiff_t w = 0; w <= static_cast<std::ptrdiff_t>(shape_.n); ++w) {
            if (w >= lead) {
                const auto lines =
                    static_cast<double>(divisions_of(static_cast<std::size_t>(w), shape_.rows.kinds));
                sum.lines += lines;
                sum.states += lines * static_cast<double>(divisions_of(static_cast<std::size_t>(w - lead),
                                                                       shape_.cols.kinds));
            }
            before.push_back(sum);
        }
        return before;
    }

    BandShape shape_;
    std::map<std::ptrdiff_t, std::vector<StateCount>> before_;
};

// Calls of(sets, sources, count) for each size of sets of known lines: there are so many, and the move sums
// so many sources for each of the states beside one.
template <class Of> void each_sum(const BandShape &shape, const Of &of) {
    static constexpr std::array<std::array<double, most_band + 2>, most_band + 2> choices{
        {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}}};
    CountsByLead counts(shape);
    each_move(shape, [&](const BandMove &move) {
        const std::size_t own = move.comes ? 1 : 0; // it joins none of these sets
        const std::size_t most_rows = move.rows.known() - (move.is_row ? own : 0),
                          most_cols = move.cols.known() - (move.is_row ? 0 : own);
        for (std::size_t rows = 0; rows <= most_rows; ++rows)
            for (std::size_t cols = 0; cols <= most_cols; ++cols) {
                const std::size_t others = move.others().known() - (move.is_row ? cols : rows);
                const bool of_cols = move.is_row == move.comes; // a row takes columns, as columns leave
                const std::size_t sources =
                    (of_cols ? shape.cols : shape.rows).kinds + (move.comes ? others : 1);
                of(choices[most_rows][rows] * choices[most_cols][cols], sources,
                   counts.of(waiting_range(shape, move, rows, cols)));
            }
    });
}

} // namespace

double band_products(const BandShape &shape) {
    double products = 0;
    each_sum(shape, [&products](double sets, std::size_t sources, const StateCount &count) {
        products += sets * products_of_sums(count, sources);
    });
    return products;
}

double most_beside_a_set(const BandShape &shape) {
    double most = 0;
    each_sum(shape, [&most](double, std::size_t, const StateCount &count) {
        most = std::max(most, count.states + count.lines);
    });
    return most;
}

double band_bytes(const BandShape &shape) {
    const std::size_t bits = std::max<std::size_t>(shape.rows.width, 1) + shape.cols.width + 1;
    const double sets = static_cast<double>(std::size_t{1} << bits) + 1; // and the one that is made
    constexpr double tables = 12; // words by division, of Divisions and of a slice
    return 8 * (sets * most_beside_a_set(shape) +
                tables * static_cast<double>(divisions_of(shape.n / 2 + 2, shape.cols.kinds)));
}

} // namespace libperm
