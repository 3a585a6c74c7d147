#include "preprocess/frontier_steps.hpp"

#include "preprocess/binomials.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace libperm {
namespace {

using Names = std::vector<std::int32_t>; // by slot

// What a slot costs as a low one: the states of the rows with an entry in it, and half of those of rows in
// which it is not open, as blocks are smaller then. In whole numbers of halves, so the same everywhere.
std::vector<double> costs_of(const FrontierProgram &program) {
    std::vector<double> costs(at(program.slots), 0);
    std::vector<char> open(costs.size(), 0);
    for (const FrontierStep &step : program.steps) {
        const double states = binomial(step.width_after, step.used_after);
        for (const FrontierTerm &t : step.terms) open[at(t.slot)] = 2;
        for (std::size_t s = 0; s < costs.size(); ++s) costs[s] += states * (open[s] == 2 ? 2 : open[s] == 0);
        for (const FrontierTerm &t : step.terms) open[at(t.slot)] = t.closes ? 0 : 1;
    }
    return costs;
}

// Low ones first; both keep their order.
Names cheapest_low(const FrontierProgram &program) {
    const std::vector<double> costs = costs_of(program);
    std::vector<std::int32_t> order(costs.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t x, std::int32_t y) { return costs[at(x)] < costs[at(y)]; });
    std::sort(order.begin(), order.begin() + low_slots);
    std::sort(order.begin() + low_slots, order.end());
    Names names(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) names[at(order[k])] = static_cast<std::int32_t>(k);
    return names;
}

std::int32_t most_open_high(const FrontierProgram &program, const Names &names) {
    std::int32_t open = 0, most = 0;
    for (const FrontierStep &step : program.steps) {
        for (const FrontierTerm &t : step.terms) open += t.opens && names[at(t.slot)] >= low_slots;
        for (const FrontierTerm &t : step.terms) open -= t.closes && names[at(t.slot)] >= low_slots;
        most = std::max(most, open);
    }
    return most;
}

} // namespace

void name_slots(FrontierProgram &program) {
    static_assert(most_dense_slots <= PascalTriangle::most);
    constexpr std::int32_t many_high = 26; // a GPU has 28; each doubles the blocks
    if (program.slots <= low_slots || program.slots > most_dense_slots) return;
    const Names names = cheapest_low(program);
    Names old(names.size());
    std::iota(old.begin(), old.end(), 0);
    const std::int32_t most_high = most_open_high(program, names);
    if (most_high > many_high && most_high > most_open_high(program, old)) return;
    for (FrontierStep &step : program.steps) {
        for (FrontierTerm &t : step.terms) t.slot = names[at(t.slot)];
        std::sort(step.terms.begin(), step.terms.end(),
                  [](const FrontierTerm &x, const FrontierTerm &y) { return x.slot < y.slot; });
    }
}

namespace {

// Which bits of a state are taken.
class StateBits {
  public:
    // The lowest `width` free bits in a row, inside one word.
    std::int32_t take(std::int32_t width) {
        while (first_ < taken_.size() && taken_[first_] == ~std::uint64_t{0}) ++first_;
        for (std::size_t w = first_;; ++w) {
            if (w == taken_.size()) taken_.push_back(0);
            std::uint64_t begins = ~taken_[w];
            for (std::int32_t k = 1; k < width; ++k) begins &= begins >> 1; // zeros come in from above
            if (begins == 0) continue;
            const int place = std::countr_zero(begins);
            taken_[w] |= mask(width) << place;
            return static_cast<std::int32_t>(64 * w) + place;
        }
    }
    void give_back(std::int32_t slot, std::int32_t width) {
        const std::size_t w = at(slot / 64);
        taken_[w] &= ~(mask(width) << (slot % 64));
        first_ = std::min(first_, w);
    }

  private:
    static std::uint64_t mask(std::int32_t width) { return (std::uint64_t{1} << width) - 1; }

    std::vector<std::uint64_t> taken_;
    std::size_t first_ = 0; // no word below has a free bit
};

// Gives the columns their bits of a state's key, row by row.
class Slots {
  public:
    explicit Slots(const FrontierSide &side)
        : side_(side), slot_of_(at(side.rows.cols), -1), remaining_(at(side.rows.cols)) {
        for (std::int32_t j = 0; j < side.rows.cols; ++j)
            remaining_[at(j)] = static_cast<std::int32_t>(side.columns.row(j).size());
    }

    std::int32_t most() const { return most_; } // bits of a key

    // In the order in which all forms add them up. What a column closes with is free from the next row on.
    std::vector<FrontierTerm> terms_of(std::int32_t row) {
        std::vector<FrontierTerm> terms;
        terms.reserve(side_.rows.row(row).size());
        std::int64_t entry = side_.rows.row_begin(row);
        for (const std::int32_t col : side_.rows.row(row)) terms.push_back(term(col, entry++));
        std::sort(terms.begin(), terms.end(),
                  [](const FrontierTerm &x, const FrontierTerm &y) { return x.slot < y.slot; });
        for (const FrontierTerm &t : terms)
            if (t.closes) bits_.give_back(t.slot, t.width);
        return terms;
    }

  private:
    FrontierTerm term(std::int32_t col, std::int64_t entry) {
        FrontierTerm t{};
        t.entry = side_.entry[static_cast<std::size_t>(entry)];
        t.multiplicity = side_.multiplicity[at(col)];
        t.width = std::bit_width(static_cast<std::uint32_t>(t.multiplicity));
        std::int32_t &slot = slot_of_[at(col)];
        t.opens = slot < 0;
        if (t.opens) {
            slot = bits_.take(t.width);
            most_ = std::max(most_, slot + t.width);
        }
        t.slot = slot;
        t.closes = --remaining_[at(col)] == 0;
        t.least = std::max(0, t.multiplicity - remaining_[at(col)]);
        return t;
    }

    const FrontierSide &side_;
    StateBits bits_;
    std::vector<std::int32_t> slot_of_, remaining_; // of each column: -1, not open; rows to come
    std::int32_t most_ = 0;
};

} // namespace

std::int64_t bytes_of(const FrontierProgram &program) {
    std::int64_t bytes = static_cast<std::int64_t>(program.steps.size() * sizeof(FrontierStep));
    for (const FrontierStep &step : program.steps)
        bytes += static_cast<std::int64_t>(step.terms.capacity() * sizeof(FrontierTerm));
    for (const FrontierBranch &branch : program.branches) {
        bytes += static_cast<std::int64_t>(sizeof branch);
        for (const std::vector<BitRun> &runs : branch.join.runs)
            bytes += static_cast<std::int64_t>(runs.capacity() * sizeof(BitRun));
        for (const std::vector<std::int32_t> &rows : branch.join.rows)
            bytes += static_cast<std::int64_t>(rows.capacity() * sizeof rows[0]);
    }
    if (program.source) bytes += bytes_of(*program.source);
    return bytes;
}

void count_states(FrontierProgram &program, const FrontierSide &side, const std::vector<std::int32_t> &rows) {
    PolledSteps steps;
    const Log2Binomial log2_binomial(side.rows.rows);
    FrontierState frontier(side, log2_binomial);
    std::int32_t width = 0, used = 0;
    for (std::size_t t = 0; t < rows.size(); ++t) {
        FrontierStep &step = program.steps[t];
        steps.take(frontier.width());
        step.width_before = width;
        step.used_before = used++;
        for (const FrontierTerm &term : step.terms) {
            if (term.opens) width += term.multiplicity;
            if (term.closes) width -= term.multiplicity;
            if (term.closes) used -= term.multiplicity;
        }
        step.width_after = width;
        step.used_after = used;
        const FrontierStepCost cost = frontier.advance(rows[t]);
        step.states_bound = std::min(step.states_bound, std::exp2(std::min(cost.log2_states_after, 1000.0)));
        step.expansions_bound = std::min(step.expansions_bound, cost.expansions);
    }
}

FrontierProgram build_frontier_program(const FrontierSide &side, const FrontierOrder &order) {
    PolledSteps steps;
    FrontierProgram program;
    program.transposed = side.transposed;
    program.counts = side.counted();
    program.steps.reserve(order.rows.size());
    Slots slots(side);
    for (const std::int32_t row : order.rows) {
        steps.take(64 + 16 * std::ssize(side.rows.row(row)));
        FrontierStep &step = program.steps.emplace_back();
        step.row = row;
        step.terms = slots.terms_of(row);
        step.states_bound = step.expansions_bound = std::numeric_limits<double>::infinity();
    }
    program.slots = slots.most();
    count_states(program, side, order.rows);
    if (!program.counts) name_slots(program);
    return program;
}

namespace {

// Can the first `rows` of the order be matched perfectly to the columns, to so many of each kind? Augmenting
// paths (Kuhn).
class MatchingTest {
  public:
    MatchingTest(const FrontierSide &side, const std::vector<std::int32_t> &order)
        : a_(side.rows), order_(order), first_(at(a_.cols)), count_(at(a_.cols)), seen_(at(a_.cols), 0) {
        std::exclusive_scan(side.multiplicity.begin(), side.multiplicity.end(), first_.begin(), 0);
        row_of_.resize(at(first_.back() + side.multiplicity.back()));
    }

    bool operator()(std::size_t rows, const std::vector<std::int32_t> &allowed) {
        std::fill(count_.begin(), count_.end(), 0);
        for (std::size_t r = 0; r < rows; ++r) {
            ++tick_;
            if (!augment(order_[r], allowed)) return false;
        }
        return true;
    }

  private:
    // Depth at most the rows of a component.
    bool augment(std::int32_t row, const std::vector<std::int32_t> &allowed) {
        for (const std::int32_t j : a_.row(row))
            if (count_[at(j)] < allowed[at(j)]) {
                row_of_[at(first_[at(j)] + count_[at(j)]++)] = row;
                return true;
            }
        for (const std::int32_t j : a_.row(row)) { // all full
            if (seen_[at(j)] == tick_) continue;
            seen_[at(j)] = tick_;
            for (std::int32_t k = first_[at(j)]; k < first_[at(j)] + count_[at(j)]; ++k)
                if (augment(row_of_[at(k)], allowed)) {
                    row_of_[at(k)] = row;
                    return true;
                }
        }
        return false;
    }

    const Pattern &a_;
    const std::vector<std::int32_t> &order_;
    std::vector<std::int32_t> first_,
        count_; // of a kind: its rows are row_of_[first_ .. first_ + count_ - 1]
    std::vector<std::int32_t> row_of_;
    std::vector<std::int64_t> seen_;
    std::int64_t tick_ = 0;
};

// Draws states that the frontier's bounds allow: how many columns of each kind are matched.
class ColumnSample {
  public:
    ColumnSample(const FrontierState &frontier, std::size_t cols) : frontier_(frontier), allowed_(cols, 0) {}

    void allow(std::int32_t col, std::int32_t count) { allowed_[at(col)] = count; }

    // After a step of the frontier.
    void begin() {
        open_ = frontier_.open();
        std::sort(open_.begin(), open_.end(), [](const OpenColumn &x, const OpenColumn &y) {
            return x.component != y.component ? x.component < y.component : x.col < y.col;
        });
        units_.clear();
        for (const OpenColumn &o : open_) units_.insert(units_.end(), at(frontier_.range(o).width()), o.col);
    }

    const std::vector<std::int32_t> &next() {
        for (const OpenColumn &o : open_) allowed_[at(o.col)] = frontier_.range(o).least;
        std::size_t begin = 0;
        for (std::size_t k = 0; k < open_.size(); ++k) { // Fisher-Yates inside each component
            if (k > 0 && open_[k].component == open_[k - 1].component) continue;
            for (std::size_t u = 0; u < at(open_[k].used); ++u) {
                std::swap(units_[begin + u], units_[begin + u + below(at(open_[k].active) - u)]);
                ++allowed_[at(units_[begin + u])];
            }
            begin += at(open_[k].active);
        }
        return allowed_;
    }

    void end() {
        for (const OpenColumn &o : open_) allowed_[at(o.col)] = 0;
    }

  private:
    std::size_t below(std::size_t n) { // xorshift64*: any deterministic generator will do
        random_ ^= random_ >> 12, random_ ^= random_ << 25, random_ ^= random_ >> 27;
        return static_cast<std::size_t>(((random_ * 0x2545f4914f6cdd1du) >> 32) * n >> 32);
    }

    const FrontierState &frontier_;
    std::vector<std::int32_t> allowed_; // of each kind: all of the closed ones, a sample of the others
    std::vector<OpenColumn> open_;
    std::vector<std::int32_t> units_; // columns, of a kind so many as its count can vary
    std::uint64_t random_ = 0x9e3779b97f4a7c15u;
};

} // namespace

void estimate_reachable(FrontierProgram &program, const FrontierSide &side, const FrontierOrder &order,
                        int samples) {
    const Pattern &a = side.rows;
    if (a.rows > 10000) return; // augmenting paths of such length would exhaust the call stack
    double total = 0;
    for (const FrontierStep &s : program.steps) total += s.expansions_bound;

    PolledSteps steps;
    const Log2Binomial log2_binomial(a.rows);
    FrontierState frontier(side, log2_binomial);
    MatchingTest matches(side, order.rows);
    ColumnSample sample(frontier, at(a.cols));
    for (std::size_t t = 0; t < program.steps.size(); ++t) {
        steps.take(64 + 4 * std::ssize(a.row(order.rows[t])) + frontier.width());
        FrontierStep &step = program.steps[t];
        frontier.advance(order.rows[t]);
        for (const std::int32_t j : a.row(order.rows[t]))
            sample.allow(j, frontier.is_open(j) ? 0 : side.multiplicity[at(j)]);
        // Expansions of the next row start from these states.
        const double matters = t + 1 < program.steps.size() ? program.steps[t + 1].expansions_bound : 0;
        if (step.states_bound < 16 || matters < 0.005 * total) {
            step.reachable = t > 0 ? program.steps[t - 1].reachable : 1;
            continue;
        }
        sample.begin();
        int hits = 0;
        for (int k = 0; k < samples; ++k) {
            poll();
            hits += matches(t + 1, sample.next());
        }
        sample.end();
        step.reachable = (hits + 0.5) / (samples + 1.0); // never 0: none in so many says only "few"
    }
}

} // namespace libperm
