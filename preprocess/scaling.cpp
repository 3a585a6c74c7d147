#include "preprocess/scaling.hpp"

#include "preprocess/graph_parts.hpp"
#include "preprocess/index.hpp"
#include "preprocess/repeated_lines.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <queue>
#include <utility>

namespace libperm {
namespace {

// Minimum-cost assignment by shortest augmenting paths; cost of an entry = minus its binary exponent.
class Assignment {
  public:
    Assignment(const Block &block)
        : a_(block.pattern),
          cost_(block.values.size(), absent),
          u_(at(a_.rows), 0),
          v_(at(a_.cols), far),
          col_of_row_(at(a_.rows), -1),
          row_of_col_(at(a_.cols), -1),
          distance_(at(a_.cols), far),
          from_(at(a_.cols), -1),
          final_(at(a_.cols), 0) {
        for (std::size_t k = 0; k < block.values.size(); ++k)
            if (!is_zero(block.values[k])) cost_[k] = -block.values[k].exp2;
        for (std::int32_t i = 0; i < a_.rows; ++i)
            for_each(i, [&](std::int32_t j, std::int64_t c) { v_[at(j)] = std::min(v_[at(j)], c); });
        for (std::int32_t i = 0; i < a_.rows; ++i) {
            u_[at(i)] = far;
            for_each(i,
                     [&](std::int32_t j, std::int64_t c) { u_[at(i)] = std::min(u_[at(i)], c - v_[at(j)]); });
            for_each(i, [&](std::int32_t j, std::int64_t c) {
                if (col_of_row_[at(i)] < 0 && row_of_col_[at(j)] < 0 && c == u_[at(i)] + v_[at(j)])
                    match(i, j);
            });
        }
        for (std::int32_t i = 0; i < a_.rows; ++i)
            if (col_of_row_[at(i)] < 0) augment(i);
    }

    std::int64_t u(std::int32_t i) const { return u_[at(i)]; }
    std::int64_t v(std::int32_t j) const { return v_[at(j)]; }

  private:
    static constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max() / 4;
    static constexpr std::int64_t absent = far;

    template <class F> void for_each(std::int32_t i, F f) {
        steps_.take(1 + 2 * std::ssize(a_.row(i)));
        std::int64_t k = a_.row_begin(i);
        for (const std::int32_t j : a_.row(i)) {
            if (cost_[at(k)] != absent) f(j, cost_[at(k)]);
            ++k;
        }
    }

    void match(std::int32_t i, std::int32_t j) {
        col_of_row_[at(i)] = j;
        row_of_col_[at(j)] = i;
    }

    // Dijkstra over reduced costs from a free row to the nearest free column, then the usual dual update.
    void augment(std::int32_t root) {
        queue_ = {};
        reached_.clear();
        touched_.clear();
        std::int32_t end = -1;
        std::int64_t length = 0;
        for (std::int32_t row = root; end < 0;) {
            for_each(row, [&](std::int32_t j, std::int64_t c) {
                const std::int64_t d = length + c - u_[at(row)] - v_[at(j)];
                if (!final_[at(j)] && d < distance_[at(j)]) {
                    if (distance_[at(j)] == far) touched_.push_back(j);
                    distance_[at(j)] = d;
                    from_[at(j)] = row;
                    queue_.emplace(d, j);
                }
            });
            while (!queue_.empty() && final_[at(queue_.top().second)]) queue_.pop();
            if (queue_.empty())
                break; // no perfect matching, though the caller promised one: any scaling will do
            const std::int32_t j = queue_.top().second;
            length = queue_.top().first;
            queue_.pop();
            final_[at(j)] = 1;
            reached_.push_back(j);
            if (row_of_col_[at(j)] < 0)
                end = j;
            else
                row = row_of_col_[at(j)];
        }
        u_[at(root)] += length;
        for (const std::int32_t j : reached_) {
            const std::int64_t slack = length - distance_[at(j)];
            v_[at(j)] -= slack;
            if (row_of_col_[at(j)] >= 0) u_[at(row_of_col_[at(j)])] += slack;
        }
        for (std::int32_t j = end; j >= 0;) {
            const std::int32_t row = from_[at(j)];
            const std::int32_t next = col_of_row_[at(row)];
            match(row, j);
            j = row == root ? -1 : next;
        }
        for (const std::int32_t j : touched_) {
            distance_[at(j)] = far;
            final_[at(j)] = 0;
        }
    }

    const Pattern &a_;
    std::vector<std::int64_t> cost_, u_, v_;
    std::vector<std::int32_t> col_of_row_, row_of_col_;
    // Of the search in hand; only what it touched is put back after it.
    std::vector<std::int64_t> distance_;
    std::vector<std::int32_t> from_, reached_, touched_;
    std::vector<char> final_;
    using Reach = std::pair<std::int64_t, std::int32_t>;
    std::priority_queue<Reach, std::vector<Reach>, std::greater<>> queue_;
    PolledSteps steps_;
};

// Two loops stand for an edge.
PowerScaling scaling_of_graph(const Block &graph) {
    Block halves = both_halves(graph);
    std::size_t k = 0;
    for (std::int32_t i = 0; i < halves.n(); ++i)
        for (const std::int32_t j : halves.pattern.row(i)) {
            if (i == j) halves.values[k].exp2 *= 2;
            ++k;
        }
    PowerScaling scaling = power_scaling(halves);
    const std::vector<std::int32_t> lowest = equal_lines(graph).of_row; // which are to stay equal
    scaling.total = 0;
    for (std::size_t i = 0; i < scaling.row.size(); ++i) {
        const std::int64_t both = scaling.row[i] + scaling.col[i];
        scaling.row[i] = scaling.col[i] = lowest.empty() || at(lowest[i]) == i ? both >> 1 // down
                                                                               : scaling.row[at(lowest[i])];
        scaling.total += scaling.row[i];
    }
    return scaling;
}

} // namespace

PowerScaling power_scaling(const Block &block) {
    const Pattern &a = block.pattern;
    if (a.one_sided) return scaling_of_graph(block);
    PowerScaling scaling;
    scaling.row.assign(at(a.rows), 0);
    scaling.col.assign(at(a.cols), 0);
    std::int64_t lowest = 0, highest = 0; // 0 included, so that values near 1 mean "leave it"
    for (const Tracked &x : block.values) {
        if (is_zero(x)) continue;
        lowest = std::min(lowest, x.exp2);
        highest = std::max(highest, x.exp2);
    }
    if (highest - lowest < 500 && a.rows * (highest - lowest + 1) < 500) return scaling;

    const Assignment assignment(block);
    for (std::int32_t i = 0; i < a.rows; ++i) scaling.total += assignment.u(i);
    for (std::int32_t j = 0; j < a.cols; ++j) scaling.total += assignment.v(j);
    for (std::int32_t i = 0; i < a.rows; ++i) scaling.row[at(i)] = assignment.u(i);
    for (std::int32_t j = 0; j < a.cols; ++j) scaling.col[at(j)] = assignment.v(j);
    return scaling;
}

std::int64_t scale(Block &block) {
    const PowerScaling scaling = power_scaling(block);
    std::size_t k = 0;
    for (std::int32_t i = 0; i < block.n(); ++i)
        for (const std::int32_t j : block.pattern.row(i))
            block.values[k++].exp2 += scaling.of(block.pattern, i, j);
    return scaling.total;
}

} // namespace libperm
