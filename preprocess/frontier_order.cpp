// The rows of a pattern, those with fewer entries first; in their order where they have as many.

#include "preprocess/frontier_order.hpp"

#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"
#include "preprocess/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

namespace libperm {

// O(nnz), by counting.
inline std::vector<std::int32_t> rows_by_degree(const Pattern &a) {
    std::size_t most = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) most = std::max(most, a.row(i).size());
    std::vector<std::int32_t> next(most + 2, 0), rows(static_cast<std::size_t>(a.rows));
    for (std::int32_t i = 0; i < a.rows; ++i) ++next[a.row(i).size() + 1];
    for (std::size_t d = 1; d < next.size(); ++d) next[d] += next[d - 1];
    for (std::int32_t i = 0; i < a.rows; ++i) rows[static_cast<std::size_t>(next[a.row(i).size()]++)] = i;
    return rows;
}

namespace {

constexpr double most_greedy_work = 2e8; // of a line: a fifth of a second
// Of search on each side: what they find differs, and of short orders several cost little more than one.
std::size_t lines_for(std::int32_t rows) {
    constexpr std::int32_t few_rows = 100;
    return rows <= few_rows ? 4 : 2;
}

constexpr std::size_t hub = 2000; // entries of a column that says nothing of which rows are near

// Over some rows: what each form would take by its price, and how many states there are at most.
struct RowsCost {
    double sparse = 0, dense = 0;             // seconds
    double log2_states = 0, log2_subsets = 0; // at once
    std::int32_t width = 0;                   // of the subsets

    RowsCost &operator+=(const RowsCost &x) {
        sparse += x.sparse;
        dense += x.dense;
        log2_states = std::max(log2_states, x.log2_states);
        log2_subsets = std::max(log2_subsets, x.log2_subsets);
        width = std::max(width, x.width);
        return *this;
    }
};

// What is too large for the memory takes that much longer: so much about the work of slices, which are as
// much narrower.
double seconds_of(const RowsCost &x, const FrontierOrderOptions &options) {
    const auto priced = [&x](double seconds, double log2_states, const FrontierPrice &price) {
        const double wider = std::max(0, x.width - price.widest);
        return seconds * std::exp2(std::max({0.0, log2_states - std::log2(price.most_states), wider}));
    };
    return std::min(priced(x.sparse, x.log2_states, options.sparse),
                    priced(x.dense, x.log2_subsets, options.dense));
}

// One line of search on one side of the matrix.
class Walker {
  public:
    Walker(const FrontierSide &side, const Log2Binomial &log2_binomial, const FrontierOrderOptions &options,
           std::uint64_t seed)
        : options_(options),
          transposed_(side.transposed),
          a_(side.rows),
          at_(side.columns),
          frontier_(side, log2_binomial),
          random_(seed),
          kept_(options.account) {
        for (std::int32_t i = 0; i < a_.rows; ++i) too_wide_ |= a_.row(i).size() > widest_frontier;
    }

    const std::vector<std::int32_t> &best() const { return best_; }
    double best_cost() const { return best_cost_; }
    bool transposed() const { return transposed_; }
    bool too_wide() const { return too_wide_; }
    double work() const { return work_; } // done so far, in about nanoseconds

    // `worth`: the work that is worth doing for an order of some cost.
    template <class Worth> void greedy_starts(int count, const Worth &worth) {
        for (int k = 0; k < count && !too_wide_; ++k) {
            if (k > 0 && work_ > std::min(most_greedy_work, worth(best_cost_))) return;
            const std::vector<std::int32_t> order = greedy(k == 0 ? 0.0 : 0.1 * (k % 20));
            const double cost = evaluate(order);
            if (cost < best_cost_) {
                best_ = order;
                best_cost_ = cost;
            }
        }
    }

    // Annealing by single-row moves. The frontier after a set of rows does not depend on their order, so only
    // the steps between the two ends of a move have to be looked at.
    void anneal(double budget) {
        if (a_.rows < 2 || best_.empty() || !has_room_for_snapshots()) return;
        order_ = best_;
        take_snapshots();
        const double start = work_, end = work_ + budget;
        while (work_ < end) {
            const double left = 1.0 - (work_ - start) / budget, temperature = 0.3 * left * left;
            const double allowed = total_ * std::exp2(-temperature * std::log(1.0 - random_.uniform()));
            const std::int32_t from = random_.below(a_.rows);
            const std::int32_t reach =
                std::max(1, static_cast<std::int32_t>(a_.rows * random_.uniform() * random_.uniform()));
            const std::int32_t to = std::clamp(from - reach + random_.below(2 * reach + 1), 0, a_.rows - 1);
            if (from != to) try_move(from, to, allowed);
            work_ += 20;
        }
    }

  private:
    RowsCost step(std::int32_t row) {
        steps_.take(64 + 4 * std::ssize(a_.row(row)) + frontier_.width());
        work_ += 2.6 * static_cast<double>(frontier_.open().size()) +
                 10.0 * static_cast<double>(a_.row(row).size()) + 130.0;
        const FrontierStepCost cost = frontier_.advance(row);
        const auto states = [](double log2) { return std::exp2(std::min(log2, 1000.0)); };
        return {options_.sparse.expansion * cost.expansions +
                    options_.sparse.state * states(cost.log2_states_after),
                options_.dense.expansion * cost.subset_expansions +
                    options_.dense.state * states(cost.log2_subsets_after),
                cost.log2_states_after, cost.log2_subsets_after, cost.width_after};
    }

    // 1e300 for an order that is out of reach, or was left unfinished because it would be.
    double evaluate(const std::vector<std::int32_t> &order) {
        if (order.size() < at(a_.rows)) return 1e300;
        frontier_.restore({});
        RowsCost total;
        for (const std::int32_t row : order) {
            total += step(row);
            if (frontier_.log2_states() > frontier_out_of_reach) return 1e300;
        }
        return seconds_of(total, options_);
    }

    // Next the row that opens least and closes most; ties go to columns that close soonest.
    std::vector<std::int32_t> greedy(double noise) {
        frontier_.restore({});
        std::vector<char> done(at(a_.rows), 0), listed(at(a_.rows), 0);
        std::vector<std::int32_t> candidates, order;
        // Where to start when nothing is open: few entries first.
        std::vector<std::int32_t> fresh = rows_by_degree(a_);
        std::size_t next_fresh = 0;
        if (noise > 0) std::swap(fresh[0], fresh[at(random_.below(a_.rows))]);
        while (order.size() < at(a_.rows)) {
            if (candidates.empty()) {
                while (done[at(fresh[next_fresh])]) ++next_fresh;
                candidates.push_back(fresh[next_fresh]);
            }
            std::size_t chosen = 0;
            double lowest = 1e300;
            for (std::size_t c = 0; c < candidates.size(); ++c) {
                steps_.take(1 + std::ssize(a_.row(candidates[c])));
                double score = noise > 0 ? noise * random_.uniform() : 0.0;
                for (const std::int32_t col : a_.row(candidates[c])) {
                    const std::int32_t remaining = frontier_.remaining(col);
                    score += (frontier_.is_open(col) ? 0.0 : 1.0) - (remaining == 1 ? 1.0 : 0.0) -
                             0.05 / remaining;
                }
                work_ += 2.0 * static_cast<double>(a_.row(candidates[c]).size());
                if (score < lowest) {
                    lowest = score;
                    chosen = c;
                }
            }
            const std::int32_t row = candidates[chosen];
            candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(chosen));
            done[at(row)] = 1;
            order.push_back(row);
            for (const std::int32_t col : a_.row(row)) {
                if (frontier_.is_open(col) || at_.row(col).size() > hub) continue;
                for (const std::int32_t neighbour : at_.row(col))
                    if (!done[at(neighbour)] && !listed[at(neighbour)]) {
                        listed[at(neighbour)] = 1;
                        candidates.push_back(neighbour);
                    }
            }
            step(row);
            if (frontier_.log2_states() > frontier_out_of_reach) break;
            if (frontier_.width() > widest_frontier) {
                too_wide_ = true;
                break;
            }
        }
        return order;
    }

    bool has_room_for_snapshots() {
        constexpr double most = 1000000; // open columns in all snapshots of a line: tens of megabytes
        constexpr double of_column = 2 * sizeof(OpenColumn); // once more in the window of a move
        constexpr double of_row = 2 * (sizeof(FrontierState::Snapshot) + sizeof(RowsCost));
        const auto lines = static_cast<double>(2 * lines_for(a_.rows));
        double open = 0;
        frontier_.restore({});
        for (const std::int32_t row : best_) {
            steps_.take(64 + 4 * std::ssize(a_.row(row)) + frontier_.width());
            frontier_.advance(row);
            open += static_cast<double>(frontier_.open().size());
        }
        const double bytes = of_column * open + of_row * static_cast<double>(a_.rows);
        if (open > most || lines * bytes > options_.most_bytes) return false;
        kept_.resize(static_cast<std::int64_t>(bytes));
        return true;
    }

    void take_snapshots() {
        snapshots_.resize(at(a_.rows) + 1);
        scratch_.resize(at(a_.rows) + 1);
        costs_.resize(at(a_.rows));
        scratch_costs_.resize(at(a_.rows));
        frontier_.restore({});
        RowsCost total;
        for (std::size_t t = 0; t < order_.size(); ++t) {
            frontier_.save(snapshots_[t]);
            costs_[t] = step(order_[t]);
            total += costs_[t];
        }
        total_ = seconds_of(total, options_);
    }

    void try_move(std::int32_t from, std::int32_t to, double allowed) {
        steps_.take(a_.rows / 2);
        const std::size_t lo = at(std::min(from, to)), hi = at(std::max(from, to));
        const auto moved = [&](std::size_t t) { // the row at place t after the move
            if (t == at(to)) return order_[at(from)];
            return from < to ? order_[t + 1] : order_[t - 1];
        };
        RowsCost sum; // of what stays, then of the new window as well
        for (std::size_t t = 0; t < lo; ++t) sum += costs_[t];
        for (std::size_t t = hi + 1; t < order_.size(); ++t) sum += costs_[t];
        frontier_.restore(snapshots_[lo]);
        for (std::size_t t = lo; t <= hi; ++t) {
            if (t > lo) frontier_.save(scratch_[t]);
            sum += scratch_costs_[t] = step(moved(t));
            if (seconds_of(sum, options_) > allowed) return;
        }
        if (from < to)
            std::rotate(order_.begin() + from, order_.begin() + from + 1, order_.begin() + to + 1);
        else
            std::rotate(order_.begin() + to, order_.begin() + from, order_.begin() + from + 1);
        for (std::size_t t = lo; t <= hi; ++t) {
            costs_[t] = scratch_costs_[t];
            if (t > lo) std::swap(snapshots_[t], scratch_[t]);
        }
        total_ = seconds_of(sum, options_);
        if (total_ < best_cost_) {
            best_cost_ = total_;
            best_ = order_;
        }
    }

    const FrontierOrderOptions &options_;
    bool transposed_, too_wide_ = false;
    const Pattern &a_, &at_;
    FrontierState frontier_;
    SearchRandom random_;
    std::vector<std::int32_t> best_, order_;
    double best_cost_ = 1e300, total_ = 0, work_ = 0;
    std::vector<FrontierState::Snapshot> snapshots_, scratch_;
    std::vector<RowsCost> costs_, scratch_costs_;
    PolledSteps steps_;
    Charge kept_; // of the snapshots
};

// Several lines of search, on both sides, and the time that they may take.
class Search {
  public:
    Search(const std::array<FrontierSide, 2> &sides, const FrontierOrderOptions &options)
        : options_(options), rows_(sides.front().rows.rows), lines_(lines_for(rows_)), log2_binomial_(rows_) {
        for (std::size_t k = 0; k < 2 * lines_; ++k) {
            if (options.transposed && sides[k % 2].transposed != *options.transposed) continue;
            walkers_.push_back(std::make_unique<Walker>(sides[k % 2], log2_binomial_, options,
                                                        options.seed * 2 * lines_ + k + 1));
        }
    }

    void start() {
        const int starts = std::clamp(2000 / std::max(1, rows_), 1, 20);
        in_parallel([&](Walker &w) {
            poll();
            w.greedy_starts(starts,
                            [&](double cost) { return worth(cost) / (4.0 * static_cast<double>(lines_)); });
        });
    }

    void anneal() {
        double spent_before = -1;
        for (double round = first_round;; round *= 2) {
            const double predicted = best().best_cost();
            double spent = 0;
            for (const auto &w : walkers_) spent += w->work();
            if (best().best().empty()) break;
            const double allowed =
                std::min({options_.budget.effort * longest, worth(predicted),
                          1e9 * options_.budget.most(std::min(predicted, options_.other_seconds))});
            if (spent >= allowed || spent == spent_before) break; // or there is nothing to anneal
            spent_before = spent;
            round = std::min(round, (allowed - spent) / static_cast<double>(walkers_.size()));
            if (predicted > hopeless * options_.limit_seconds && spent > short_search) break;
            costs_.push_back(predicted);
            if (spent > 1e9 * options_.budget.least &&
                (predicted > SearchBudget::far * options_.other_seconds || falls_behind()))
                break;
            if (predicted > SearchBudget::far * SearchBudget::far * options_.branches_seconds) break;
            in_parallel([&](Walker &w) {
                poll();
                w.anneal(round);
            });
            // A line that is far behind after two rounds is given up.
            const double lowest = best().best_cost();
            if (round > first_round)
                std::erase_if(walkers_, [&](const auto &w) { return w->best_cost() > 2 * lowest; });
        }
    }

    bool too_wide() const {
        return std::all_of(walkers_.begin(), walkers_.end(), [](const auto &w) { return w->too_wide(); });
    }

    const Walker &best() const {
        return **std::min_element(walkers_.begin(), walkers_.end(), [](const auto &x, const auto &y) {
            return x->best_cost() < y->best_cost();
        });
    }

  private:
    static constexpr double first_round = 3e5; // work of a line's first round of annealing: about 0.3 ms
    static constexpr double hopeless =
        10; // times the limit: after a short search, annealing will not mend that
    static constexpr double short_search = 2e8;
    static constexpr double longest = 3e9; // work in all: about three seconds

    // What looking on is worth for all lines together.
    double worth(double cost) const {
        const double own = options_.budget.of(cost), other = options_.other_seconds;
        if (SearchBudget::far * cost < other) return 2e9 * own; // nobody else will search
        return 1e9 * (cost <= other ? own : std::min(own, options_.other_search));
    }

    // Behind the other way, and will not come up with it.
    bool falls_behind() const {
        return options_.may_fall_behind && costs_.back() > options_.other_seconds && costs_.size() > 2 &&
               !comes_near(costs_, options_.other_seconds);
    }

    template <class Work> void in_parallel(const Work &work) {
        parallel_for(walkers_.size(), [&](std::size_t k) { work(*walkers_[k]); });
    }

    const FrontierOrderOptions &options_;
    const std::int32_t rows_;
    const std::size_t lines_;
    const Log2Binomial log2_binomial_;
    std::vector<std::unique_ptr<Walker>> walkers_;
    std::vector<double> costs_; // of the best, before each round
};

} // namespace

std::int64_t frontier_planning_bytes(const Pattern &a) {
    constexpr std::int64_t of_sides = 2 * (4 + 4 + 8) + 12, of_program = 32; // of an entry
    constexpr std::int64_t of_a_row =
        350; // of four lines of search, a program; eight lines of few rows take little
    return (of_sides + of_program) * a.nnz() + of_a_row * a.rows;
}

FrontierOrder find_frontier_order(const std::array<FrontierSide, 2> &sides,
                                  const FrontierOrderOptions &options) {
    Search search(sides, options);
    search.start();
    search.anneal();
    const Walker &best = search.best();
    FrontierOrder order;
    order.rows = best.best();
    order.feasible = !order.rows.empty();
    order.too_wide = !order.feasible && search.too_wide();
    order.seconds = best.best_cost();
    order.transposed = best.transposed();
    return order;
}

} // namespace libperm
