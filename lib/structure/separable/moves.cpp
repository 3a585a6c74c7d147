#include "lib/structure/separable/moves.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace libperm {
namespace {

// States, and the lines of equal rows that they stand in.
struct StateCount {
    double states = 0, lines = 0;
};

// So many states stand beside one set of known lines, in any of its ranges.
class CountsByLead {
  public:
    explicit CountsByLead(const WalkShape &shape) : shape_(shape) {}

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
        constexpr std::size_t near = 32; // those of moves that follow each other
        if (before_.size() > near) before_.clear();
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

    const WalkShape &shape_;
    std::map<std::ptrdiff_t, std::vector<StateCount>> before_;
};

std::vector<std::vector<WalkMove>> unpriced_moves(const WalkShape &shape) {
    std::vector<std::vector<WalkMove>> moves(shape.steps.size());
    LinesSoFar rows, cols;
    for (std::size_t k = 0; k < moves.size(); ++k) {
        const auto move = [&](bool is_row, bool comes, bool leaves) {
            LinesSoFar &lines = is_row ? rows : cols;
            const std::size_t line = comes ? k : lines.left; // beside a band each step has a pair
            lines.come += comes;
            lines.left += leaves;
            const bool has_pair = comes && shape.steps[k].row && shape.steps[k].col && !shape.has_band();
            moves[k].push_back({is_row, comes, leaves, has_pair, line, rows, cols});
        };
        const auto leave_if_behind = [&](bool is_row, std::size_t width) {
            if ((is_row ? rows : cols).known() > width) move(is_row, false, true);
        };
        if (shape.steps[k].col) move(false, true, shape.known_cols() == 0);
        if (shape.rows.width > 0) leave_if_behind(true, shape.rows.width - 1);
        if (shape.steps[k].row) move(true, true, shape.known_rows() == 0);
        leave_if_behind(true, shape.rows.width);
        leave_if_behind(false, shape.cols.width);
    }
    return moves;
}

// What a move takes, and how many numbers stand beside a set of known lines behind it, at most.
double price_move(const WalkShape &shape, WalkMove &move, CountsByLead &counts) {
    static constexpr std::array<std::array<double, most_band + 2>, most_band + 2> choices{
        {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}}};
    // Beside a band, where sources differ by the set, finding them for a line takes as long as some products.
    const double products_of_line = shape.has_band() ? 24 : 0;
    const std::size_t own = move.stays_known() ? 1 : 0; // it joins none of these sets
    const std::size_t most_rows = move.rows.known() - (move.is_row ? own : 0),
                      most_cols = move.cols.known() - (move.is_row ? 0 : own);
    const LineKinds &of_own = move.is_row ? shape.rows : shape.cols,
                    &of_others = move.is_row ? shape.cols : shape.rows;
    double most = 0;
    for (std::size_t rows = 0; rows <= most_rows; ++rows)
        for (std::size_t cols = 0; cols <= most_cols; ++cols) {
            std::size_t sources = move.comes ? of_others.kinds + move.others().known() : 1;
            if (move.comes) sources -= move.is_row ? cols : rows;
            if (move.leaves) sources += of_own.kinds;
            if (move.is_row && move.has_pair) ++sources;
            const StateCount count = counts.of(waiting_range(shape, move, rows, cols));
            move.products += choices[most_rows][rows] * choices[most_cols][cols] *
                             (count.states * static_cast<double>(sources) + count.lines * products_of_line);
            most = std::max(most, count.states + count.lines);
        }
    return most;
}

} // namespace

WalkShape walk_shape(std::vector<ComingLines> steps, const LineKinds &above, const LineKinds &below) {
    const auto n = static_cast<std::size_t>(std::ranges::count_if(steps, &ComingLines::row));
    const bool is_transposed = std::pair(above.kinds, below.width) > std::pair(below.kinds, above.width);
    if (!is_transposed) return {std::move(steps), n, above, below, false};
    for (ComingLines &step : steps) std::swap(step.row, step.col);
    return {std::move(steps), n, below, above, true};
}

WaitingRange waiting_range(const WalkShape &shape, const WalkMove &move, std::size_t rows, std::size_t cols) {
    const auto whole = [](std::size_t x) { return static_cast<std::ptrdiff_t>(x); };
    const auto countable = [&whole](const LineKinds &lines, const LinesSoFar &so_far) {
        return lines.kinds == 0 ? 0 : whole(so_far.left);
    };
    WaitingRange range;
    range.lead = whole(move.rows.come) - whole(move.cols.come) - whole(rows) + whole(cols);
    range.first = std::max<std::ptrdiff_t>(0, range.lead);
    range.last = std::min({whole(shape.n) - whole(move.cols.come) - whole(rows),
                           countable(shape.rows, move.rows), range.lead + countable(shape.cols, move.cols)});
    return range;
}

WalkMoves moves_of(const WalkShape &shape) {
    WalkMoves moves{unpriced_moves(shape)};
    CountsByLead counts(shape);
    for (std::vector<WalkMove> &step : moves.steps)
        for (WalkMove &move : step) {
            moves.most_beside_a_set = std::max(moves.most_beside_a_set, price_move(shape, move, counts));
            moves.products += move.products;
        }
    return moves;
}

std::size_t divisions_of(std::size_t total, std::size_t kinds) {
    if (kinds == 0) return total == 0 ? 1 : 0;
    if (kinds == 1) return 1;
    return kinds == 2 ? total + 1 : (total + 1) * (total + 2) / 2;
}

Divisions::Divisions(std::size_t kinds, std::size_t most) {
    // The first division of so many others.
    const auto base = [kinds](std::uint32_t others) {
        return kinds == 2 ? others : others * (others + 1) / 2;
    };
    const std::uint32_t most_others = kinds <= 1 ? 0 : static_cast<std::uint32_t>(most);
    for (std::uint32_t others = 0; others <= most_others; ++others)
        for (std::uint32_t third = 0; third <= (kinds == 3 ? others : 0); ++third) {
            const std::uint32_t second = others - third, own = base(others) + third;
            others_.push_back(others);
            counts_[1].push_back(second);
            counts_[2].push_back(third);
            more_[0].push_back(own);
            more_[1].push_back(base(others + 1) + third);
            more_[2].push_back(base(others + 1) + third + 1);
            less_[0].push_back(own);
            less_[1].push_back(second == 0 ? none : base(others - 1) + third);
            less_[2].push_back(third == 0 ? none : base(others - 1) + third - 1);
        }
}

} // namespace libperm
