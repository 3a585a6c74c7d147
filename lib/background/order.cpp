#include "lib/background/order.hpp"

#include "preprocess/index.hpp"
#include "preprocess/search_random.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

// A line is open from its own place to that of the last line that it shares an entry with.
class OpenLines {
  public:
    explicit OpenLines(const LinesBeside &lines) : lines_(lines), place_(at(lines.count())) {}

    // 2^open, summed over the steps.
    double sets(const std::vector<std::int32_t> &order) {
        for (std::size_t k = 0; k < order.size(); ++k) place_[at(order[k])] = k;
        change_.assign(order.size() + 1, 0);
        for (std::size_t k = 0; k < order.size(); ++k) {
            std::size_t last = k;
            for (const auto &neighbour : lines_.of(order[k]))
                last = std::max(last, place_[at(neighbour.line)]);
            ++change_[k];
            --change_[last + 1];
        }
        double sum = 0;
        std::int32_t open = 0;
        for (std::size_t k = 0; k < order.size(); ++k) sum += std::exp2(open += change_[k]);
        return sum;
    }

  private:
    const LinesBeside &lines_;
    std::vector<std::size_t> place_;
    std::vector<std::int32_t> change_;
};

// Next is the line that leaves the fewest open, and of these the one with the most open neighbours.
std::vector<std::int32_t> greedy_order(const LinesBeside &lines, const Poll &poll) {
    std::vector<std::int32_t> order, todo = lines.with_entries(), left(at(lines.count()));
    std::vector<char> is_done(at(lines.count()));
    for (const std::int32_t i : todo) left[at(i)] = static_cast<std::int32_t>(lines.of(i).size());
    PolledSteps steps(poll);
    while (!todo.empty()) {
        std::size_t best = todo.size();
        std::int32_t best_more = 0, best_open = 0;
        for (std::size_t k = 0; k < todo.size(); ++k) {
            std::int32_t open = 0, closed = 0;
            for (const auto &neighbour : lines.of(todo[k])) {
                open += is_done[at(neighbour.line)];
                closed += is_done[at(neighbour.line)] && left[at(neighbour.line)] == 1;
            }
            const std::int32_t more = (left[at(todo[k])] > 0 ? 1 : 0) - closed;
            steps.take(4 + std::ssize(lines.of(todo[k])));
            if (best == todo.size() || more < best_more || (more == best_more && open > best_open))
                best = k, best_more = more, best_open = open;
        }
        const std::int32_t line = todo[best];
        todo.erase(todo.begin() + static_cast<std::ptrdiff_t>(best));
        order.push_back(line);
        is_done[at(line)] = 1;
        for (const auto &neighbour : lines.of(line)) --left[at(neighbour.line)];
    }
    return order;
}

void move_line(std::vector<std::int32_t> &order, std::int32_t from, std::int32_t to) {
    const auto begin = order.begin();
    if (from < to)
        std::rotate(begin + from, begin + from + 1, begin + to + 1);
    else
        std::rotate(begin + to, begin + from, begin + from + 1);
}

} // namespace

LinesBeside::LinesBeside(const Pattern &square) : neighbours_(at(2 * square.rows)), entries_(square.nnz()) {
    std::int64_t entry = 0;
    for (std::int32_t i = 0; i < square.rows; ++i)
        for (const std::int32_t j : square.row(i)) {
            neighbours_[at(i)].push_back({square.rows + j, entry});
            neighbours_[at(square.rows + j)].push_back({i, entry++});
        }
}

std::vector<std::int32_t> LinesBeside::with_entries() const {
    std::vector<std::int32_t> lines;
    for (std::int32_t i = 0; i < count(); ++i)
        if (!of(i).empty()) lines.push_back(i);
    return lines;
}

std::vector<std::int32_t> order_of_few_open(const LinesBeside &lines, const Poll &poll) {
    constexpr double of_a_set = 30, most_steps = 1e9, few = 0x1p12, first_heat = 0.5, cooling = 4;
    std::vector<std::int32_t> order = greedy_order(lines, poll), best = order;
    const auto size = static_cast<std::int32_t>(order.size());
    if (size < 3) return order;
    OpenLines open(lines);
    double sets = open.sets(order), least = sets;
    SearchRandom random(1);
    const double step = 4.0 * static_cast<double>(2 * lines.entries() + size),
                 moves = std::min(of_a_set * sets, most_steps) / step;
    PolledSteps steps(poll);
    double heat = first_heat;
    const auto last = static_cast<std::int64_t>(moves);
    for (std::int64_t move = 0; move < last && least > few; ++move, heat *= 1 - cooling / moves) {
        steps.take(static_cast<std::int64_t>(step));
        const std::int32_t from = random.below(size), to = random.below(size);
        if (from == to) continue;
        move_line(order, from, to);
        const double now = open.sets(order);
        if (now > sets && random.uniform() >= std::exp(std::log2(sets / now) / heat)) {
            move_line(order, to, from);
            continue;
        }
        sets = now;
        if (sets < least) least = sets, best = order;
    }
    return best;
}

std::vector<CountingStep> counting_steps(const LinesBeside &lines, const std::vector<std::int32_t> &order) {
    std::vector<std::int32_t> left(at(lines.count())), open; // open: by slot
    for (const std::int32_t i : order) left[at(i)] = static_cast<std::int32_t>(lines.of(i).size());
    std::vector<CountingStep> steps;
    for (const std::int32_t line : order) {
        CountingStep step;
        for (const auto &[other, entry] : lines.of(line)) {
            const auto slot = std::find(open.begin(), open.end(), other);
            if (slot == open.end()) continue;
            step.terms.push_back({static_cast<std::int32_t>(slot - open.begin()), entry});
            --left[at(line)];
            --left[at(other)];
        }
        open.push_back(line);
        for (auto slot = std::ssize(open); slot-- > 0;) {
            if (left[at(open[at(slot)])] > 0) continue;
            step.closings.push_back({static_cast<std::int32_t>(slot), open[at(slot)]});
            open.erase(open.begin() + slot);
        }
        steps.push_back(std::move(step));
    }
    return steps;
}

double sets_of(const CountingStep &step, std::int32_t open) {
    double sum = std::exp2(open) * (0.5 + 0.25 * static_cast<double>(step.terms.size()));
    for (std::size_t k = 0; k < step.closings.size(); ++k) sum += std::exp2(--open);
    return sum;
}

double sets_gone_through(const std::vector<CountingStep> &steps) {
    double sum = 0;
    std::int32_t open = 0;
    for (const CountingStep &step : steps) {
        sum += sets_of(step, ++open);
        open -= static_cast<std::int32_t>(step.closings.size());
    }
    return sum;
}

std::int32_t most_open(const std::vector<CountingStep> &steps) {
    std::int32_t open = 0, most = 0;
    for (const CountingStep &step : steps) {
        most = std::max(most, ++open);
        open -= static_cast<std::int32_t>(step.closings.size());
    }
    return most;
}

} // namespace libperm
