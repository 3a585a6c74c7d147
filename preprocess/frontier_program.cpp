#include "preprocess/frontier_program.hpp"

#include "preprocess/frontier_state.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

namespace libperm {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

std::vector<std::int32_t> column_degrees(const Pattern &a) {
    std::vector<std::int32_t> degree(at(a.cols), 0);
    for (const std::int32_t j : a.col) ++degree[at(j)];
    return degree;
}

} // namespace

FrontierProgram build_frontier_program(const Pattern &a, const Transposed &at_, const FrontierOrder &order) {
    const Pattern &p = order.transposed ? at_.pattern : a;
    const std::vector<std::int32_t> degree = column_degrees(p);
    const Log2Binomial log2_binomial(std::max(p.rows, p.cols));
    FrontierState frontier(p, degree, log2_binomial);

    FrontierProgram program;
    program.transposed = order.transposed;
    std::vector<std::int32_t> slot_of(at(p.cols), -1), remaining = degree;
    std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> free_slots; // lowest first
    std::int32_t width = 0, used = 0;
    for (const std::int32_t row : order.rows) {
        FrontierStep step;
        step.width_before = width;
        step.used_before = used++;
        std::int64_t entry = p.row_begin(row);
        for (const std::int32_t col : p.row(row)) {
            std::int32_t &slot = slot_of[at(col)];
            const bool opens = slot < 0;
            if (opens) {
                ++width;
                if (free_slots.empty()) {
                    slot = program.slots++;
                } else {
                    slot = free_slots.top();
                    free_slots.pop();
                }
            }
            const bool closes = --remaining[at(col)] == 0;
            const std::int64_t source =
                order.transposed ? at_.source[static_cast<std::size_t>(entry)] : entry;
            step.terms.push_back({source, slot, opens, closes});
            ++entry;
        }
        for (const FrontierTerm &t : step.terms)
            if (t.closes) {
                free_slots.push(t.slot); // free from the next row on
                --width;
                --used;
            }
        step.width_after = width;
        step.used_after = used;
        const FrontierStepCost cost = frontier.advance(row);
        step.states_bound = std::exp2(cost.log2_states_after);
        step.expansions_bound = cost.expansions;
        program.steps.push_back(std::move(step));
    }
    return program;
}

namespace {

// Can the first `rows` of the order be matched perfectly to the allowed columns? Augmenting paths (Kuhn).
class MatchingTest {
  public:
    MatchingTest(const Pattern &a, const std::vector<std::int32_t> &order)
        : a_(a), order_(order), row_of_(at(a.cols)), seen_(at(a.cols), 0) {}

    bool operator()(std::size_t rows, const std::vector<char> &allowed) {
        std::fill(row_of_.begin(), row_of_.end(), -1);
        for (std::size_t r = 0; r < rows; ++r) {
            ++tick_;
            if (!augment(order_[r], allowed)) return false;
        }
        return true;
    }

  private:
    bool augment(std::int32_t row,
                 const std::vector<char> &allowed) { // depth at most the rows of a component
        for (const std::int32_t j : a_.row(row))
            if (allowed[at(j)] && row_of_[at(j)] < 0) {
                row_of_[at(j)] = row;
                return true;
            }
        for (const std::int32_t j : a_.row(row)) {
            if (!allowed[at(j)] || seen_[at(j)] == tick_) continue;
            seen_[at(j)] = tick_;
            if (augment(row_of_[at(j)], allowed)) {
                row_of_[at(j)] = row;
                return true;
            }
        }
        return false;
    }

    const Pattern &a_;
    const std::vector<std::int32_t> &order_;
    std::vector<std::int32_t> row_of_;
    std::vector<std::int64_t> seen_;
    std::int64_t tick_ = 0;
};

} // namespace

void estimate_reachable(FrontierProgram &program, const Pattern &a, const FrontierOrder &order, int samples) {
    if (a.rows > 10000) return; // augmenting paths of such length would exhaust the call stack
    double total = 0;
    for (const FrontierStep &s : program.steps) total += s.expansions_bound;

    const std::vector<std::int32_t> degree = column_degrees(a);
    const Log2Binomial log2_binomial(std::max(a.rows, a.cols));
    FrontierState frontier(a, degree, log2_binomial);
    MatchingTest matches(a, order.rows);
    std::vector<char> allowed(at(a.cols), 0); // the closed columns, and in turn a sample of the open ones
    std::uint64_t random = 0x9e3779b97f4a7c15u;
    const auto below = [&random](std::size_t n) { // xorshift64*: any deterministic generator will do
        random ^= random >> 12, random ^= random << 25, random ^= random >> 27;
        return static_cast<std::size_t>(((random * 0x2545f4914f6cdd1du) >> 32) * n >> 32);
    };
    std::vector<OpenColumn> open;
    for (std::size_t t = 0; t < program.steps.size(); ++t) {
        FrontierStep &step = program.steps[t];
        frontier.advance(order.rows[t]);
        for (const std::int32_t j : a.row(order.rows[t])) allowed[at(j)] = !frontier.is_open(j);
        // Expansions of the next row start from these states.
        const double matters = t + 1 < program.steps.size() ? program.steps[t + 1].expansions_bound : 0;
        if (step.states_bound < 16 || matters < 0.005 * total) {
            step.reachable = t > 0 ? program.steps[t - 1].reachable : 1;
            continue;
        }
        open = frontier.open();
        std::sort(open.begin(), open.end(), [](const OpenColumn &x, const OpenColumn &y) {
            return x.component != y.component ? x.component < y.component : x.col < y.col;
        });
        int hits = 0;
        for (int sample = 0; sample < samples; ++sample) {
            for (std::size_t begin = 0; begin < open.size();) { // Fisher-Yates inside each component
                const auto active = static_cast<std::size_t>(open[begin].active);
                for (std::size_t k = 0; k < active; ++k) {
                    const auto u = static_cast<std::size_t>(open[begin].used);
                    if (k < u) std::swap(open[begin + k].col, open[begin + k + below(active - k)].col);
                    allowed[at(open[begin + k].col)] = k < u;
                }
                begin += active;
            }
            hits += matches(t + 1, allowed);
        }
        for (const OpenColumn &o : open) allowed[at(o.col)] = 0;
        step.reachable = (hits + 0.5) / (samples + 1.0); // never 0: none in so many says only "few"
    }
}

} // namespace libperm
