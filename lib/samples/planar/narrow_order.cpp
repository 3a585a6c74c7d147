#include "lib/samples/planar/narrow_order.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace libperm {
namespace {

using Order = std::vector<std::int32_t>;

// Lines of one side, each taken when it opens least and closes most; ties go to the columns that have been
// open for longest.
class GreedyLines {
  public:
    GreedyLines(const Pattern &lines, const Pattern &columns, PolledSteps &steps)
        : lines_(lines), columns_(columns), steps_(steps) {}

    Order from(std::int32_t first) {
        Order order;
        left_.assign(at(columns_.rows), 0);
        for (std::int32_t j = 0; j < columns_.rows; ++j)
            left_[at(j)] = static_cast<std::int32_t>(columns_.row(j).size());
        opened_.assign(at(columns_.rows), closed);
        is_met_.assign(at(lines_.rows), 0);
        met_.clear();
        meet(first);
        for (std::int32_t next = 0; std::ssize(order) < lines_.rows;) {
            if (met_.empty()) { // another part
                while (is_met_[at(next)]) ++next;
                meet(next);
            }
            constexpr std::ptrdiff_t most = 1000; // are compared
            const auto compared = std::min(std::ssize(met_), most);
            steps_.take(8 * compared);
            const auto best = std::min_element(met_.end() - compared, met_.end(),
                                               [this](auto x, auto y) { return price(x) < price(y); });
            const std::int32_t line = *best;
            *best = met_.back();
            met_.pop_back();
            take(line, static_cast<std::int32_t>(order.size()));
            order.push_back(line);
        }
        return order;
    }

  private:
    static constexpr std::int32_t closed = std::numeric_limits<std::int32_t>::max();

    void meet(std::int32_t line) {
        if (std::exchange(is_met_[at(line)], char{1})) return;
        met_.push_back(line);
    }
    std::tuple<std::int32_t, std::int32_t, std::int32_t> price(std::int32_t line) const {
        std::int32_t opens = 0, oldest = closed;
        for (const std::int32_t j : lines_.row(line)) {
            opens += (opened_[at(j)] == closed ? 1 : 0) - (left_[at(j)] == 1 ? 1 : 0);
            oldest = std::min(oldest, opened_[at(j)]);
        }
        return {opens, oldest, line};
    }
    void take(std::int32_t line, std::int32_t place) {
        for (const std::int32_t j : lines_.row(line)) {
            --left_[at(j)];
            if (opened_[at(j)] != closed) continue;
            opened_[at(j)] = place;
            for (const std::int32_t other : columns_.row(j)) meet(other);
        }
    }

    const Pattern &lines_, &columns_;
    PolledSteps &steps_;
    std::vector<std::int32_t> left_, opened_; // by column: lines to come, the place of its first
    std::vector<char> is_met_;
    std::vector<std::int32_t> met_; // and not taken
};

// `source`: of each entry of `lines`, in the pattern; none: itself.
NarrowOrder ordered(const Pattern &lines, const std::vector<std::int64_t> &source, const Order &order) {
    NarrowOrder out;
    out.lines.resize(order.size());
    std::vector<std::size_t> first(at(lines.cols), order.size()), last(at(lines.cols), 0);
    for (std::size_t k = 0; k < order.size(); ++k) {
        std::int64_t entry = lines.row_begin(order[k]);
        for (const std::int32_t j : lines.row(order[k])) {
            out.lines[k].entries.push_back({j, source.empty() ? entry : source[at(entry)]});
            ++entry;
            first[at(j)] = std::min(first[at(j)], k);
            last[at(j)] = k;
        }
    }
    for (std::int32_t j = 0; j < lines.cols; ++j) {
        out.lines[first[at(j)]].opens.push_back(j);
        out.lines[last[at(j)]].closes.push_back(j);
    }
    // A closed column is used, and a line uses one.
    std::int32_t opened = 0, closed = 0, taken = 0;
    for (OrderedLine &line : out.lines) {
        opened += static_cast<std::int32_t>(line.opens.size());
        closed += static_cast<std::int32_t>(line.closes.size());
        ++taken;
        line.left = opened - taken;
        line.used = taken - closed;
        constexpr double of_fewer = 0.3; // so many columns of the basis are used, on boards
        const double few = of_fewer * std::min(line.left, line.used);
        out.products_back += static_cast<double>(line.entries.size()) * line.numbers();
        out.products_shot += few * few * (few / 3 + 4) + line.left + line.used;
    }
    return out;
}

// The last line that a search over neighbours meets, which is at one end.
std::int32_t far_from(const Pattern &lines, const Pattern &columns, std::int32_t first) {
    std::vector<char> met(at(lines.rows), 0), is_open(at(columns.rows), 0);
    std::vector<std::int32_t> queue{first};
    met[at(first)] = 1;
    for (std::size_t k = 0; k < queue.size(); ++k)
        for (const std::int32_t j : lines.row(queue[k])) {
            if (std::exchange(is_open[at(j)], char{1})) continue;
            for (const std::int32_t other : columns.row(j))
                if (!std::exchange(met[at(other)], char{1})) queue.push_back(other);
        }
    return queue.back();
}

} // namespace

double NarrowOrder::most_numbers() const {
    double most = 0;
    for (const OrderedLine &line : lines) most = std::max(most, line.numbers());
    return most;
}

NarrowOrder narrow_order(const Pattern &a) {
    PolledSteps steps;
    const Transposed columns = transpose(a);
    NarrowOrder best;
    const auto look_at = [&](const Pattern &lines, const std::vector<std::int64_t> &source,
                             const Order &order) {
        steps.take(64 * lines.nnz());
        NarrowOrder one = ordered(lines, source, order);
        if (best.lines.empty() || one.products_shot < best.products_shot) best = std::move(one);
    };
    const auto look_at_side = [&](const Pattern &lines, const Pattern &across,
                                  const std::vector<std::int64_t> &source) {
        Order given(at(lines.rows));
        std::iota(given.begin(), given.end(), 0);
        look_at(lines, source, given);
        const std::int32_t end = far_from(lines, across, 0);
        GreedyLines greedy(lines, across, steps);
        look_at(lines, source, greedy.from(end));
        look_at(lines, source, greedy.from(far_from(lines, across, end)));
    };
    if (a.rows == 0) return best;
    look_at_side(a, columns.pattern, {});
    look_at_side(columns.pattern, a, columns.source);
    return best;
}

} // namespace libperm
