#include "lib/bounds/potential.hpp"

#include "lib/base/randomness.hpp"
#include "lib/bounds/magnitudes.hpp"
#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

constexpr int turns_at_first = 300, turns_of_a_trial = 12;
constexpr double enough = 1e-3; // that a turn must lower the logarithm of the bound by

// Logarithms of column factors with which, and factors of the rows, the matrix is about doubly stochastic.
std::vector<double> column_scales(const LogMatrix &a) {
    constexpr int turns = 20;
    const auto n = at(a.n());
    std::vector<double> column(n, 0.0), sum(n), most(n);
    std::vector<double> shifted(a.log.size());
    for (int turn = 0; turn < turns; ++turn) {
        std::fill(most.begin(), most.end(), -infinity);
        for (std::int32_t i = 0; i < a.n(); ++i) {
            auto k = at(a.pattern.row_begin(i));
            const auto begin = k;
            double largest = -infinity;
            for (const std::int32_t j : a.pattern.row(i))
                largest = std::max(largest, shifted[k] = a.log[k] + column[at(j)]), ++k;
            double all = 0;
            for (std::size_t e = begin; e < k; ++e) all += std::exp(shifted[e] - largest);
            const double row = largest + std::log(all);
            k = begin;
            for (const std::int32_t j : a.pattern.row(i)) {
                shifted[k] -= row;
                most[at(j)] = std::max(most[at(j)], shifted[k]);
                ++k;
            }
        }
        std::fill(sum.begin(), sum.end(), 0.0);
        for (std::size_t k = 0; k < shifted.size(); ++k)
            sum[at(a.pattern.col[k])] += std::exp(shifted[k] - most[at(a.pattern.col[k])]);
        for (std::size_t j = 0; j < n; ++j) column[j] -= most[j] + std::log(sum[j]);
    }
    return column;
}

// About how many rows share each column: 1 over the sum of the squares of what they have of it.
std::vector<double> breadths(const LogMatrix &a, const std::vector<double> &column) {
    const auto n = at(a.n());
    std::vector<double> sum(n, 0.0), squares(n, 0.0), breadth(n);
    for (std::int32_t i = 0; i < a.n(); ++i) {
        const auto begin = at(a.pattern.row_begin(i)), end = begin + a.pattern.row(i).size();
        double largest = -infinity, all = 0;
        const auto log_at = [&](std::size_t k) { return a.log[k] + column[at(a.pattern.col[k])]; };
        for (std::size_t k = begin; k < end; ++k) largest = std::max(largest, log_at(k));
        for (std::size_t k = begin; k < end; ++k) all += std::exp(log_at(k) - largest);
        for (std::size_t k = begin; k < end; ++k) {
            const double share = std::exp(log_at(k) - largest) / all;
            sum[at(a.pattern.col[k])] += share;
            squares[at(a.pattern.col[k])] += share * share;
        }
    }
    for (std::size_t j = 0; j < n; ++j) breadth[j] = sum[j] * sum[j] / squares[j];
    return breadth;
}

} // namespace

LogMatrix transposed(const LogMatrix &a) {
    Transposed t = transpose(a.pattern);
    LogMatrix out{std::move(t.pattern), {}};
    out.log.reserve(a.log.size());
    for (const std::int64_t k : t.source) out.log.push_back(a.log[at(k)]);
    return out;
}

Potential::Potential(const LogMatrix &a) : rows_(at(a.n())), log_divisor_(at(a.n())) {
    const std::vector<double> scale = column_scales(a), breadth = breadths(a, scale);
    poll();
    std::vector<std::int32_t> order(at(a.n())), step(at(a.n()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t x, std::int32_t y) { return breadth[at(x)] < breadth[at(y)]; });
    poll();
    for (std::int32_t t = 0; t < a.n(); ++t) {
        step[at(order[at(t)])] = t;
        log_divisor_[at(t)] = -scale[at(order[at(t)])];
    }
    for (std::int32_t i = 0; i < a.n(); ++i) {
        if (i % 4096 == 0) poll();
        auto k = at(a.pattern.row_begin(i));
        for (const std::int32_t j : a.pattern.row(i)) rows_[at(i)].push_back({step[at(j)], a.log[k++]});
        std::sort(rows_[at(i)].begin(), rows_[at(i)].end(),
                  [](const Entry &x, const Entry &y) { return x.step < y.step; });
    }
    columns_ = std::move(order);
    descend(turns_at_first);
    poll();
    arrange();
}

// One row is gone through from its last entry back.
Potential::Passed Potential::pass(std::vector<Entry> &row, double start) {
    Passed out{start, -infinity, 1};
    double slope = 1;
    passed_ += static_cast<double>(row.size());
    for (auto e = row.rbegin(); e != row.rend(); ++e) {
        const double log = e->log - log_divisor_[at(e->step)] - out.log;
        if (log > out.excess) {
            out.excess = log;
            out.slope = slope;
        }
        e->weight = std::exp(log);
        slope *= 1 - e->weight;
        out.log += e->weight;
    }
    return out;
}

// The start from which g_i(0) is least: g_i(0) is convex in it where no weight is above 1, and least where
// one is 1.
double Potential::least(std::vector<Entry> &row) {
    constexpr double near = 1e-6;
    constexpr int most_tries = 12;
    double low = row.back().log - log_divisor_[at(row.back().step)];
    Passed passed = pass(row, low);
    if (passed.excess <= near) return passed.log;
    double high = low, start = 0;
    for (const Entry &e : row) high = std::max(high, e.log - log_divisor_[at(e.step)]);
    passed = pass(row, start = high);
    for (int k = 0; k < most_tries && !(passed.excess <= 0 && passed.excess > -near); ++k) {
        (passed.excess > 0 ? low : high) = start;
        start = passed.excess <= 0 ? start + passed.excess / std::max(passed.slope, 1e-3) : (low + high) / 2;
        if (!(start > low)) start = (low + high) / 2;
        passed = pass(row, start);
    }
    return passed.excess <= 0 ? passed.log : pass(row, high).log;
}

double Potential::bound() {
    constexpr std::size_t entries_between = std::size_t{1} << 16;
    double sum = 0;
    for (const double w : log_divisor_) sum += w - 1;
    std::size_t entries = 0;
    for (std::vector<Entry> &row : rows_) {
        sum += least(row);
        entries += row.size();
        if (entries < entries_between) continue;
        entries = 0;
        poll();
    }
    return sum;
}

// log U is convex in the logarithms of the divisors, its slope 1 - sum_i (what is left of row i) (its
// weight): the mean number of rows that a column gets is to be 1.
void Potential::descend(int turns) {
    std::vector<double> best = log_divisor_, share(best.size()), of_best(best.size(), 1.0);
    log_bound_ = infinity;
    double step = 1;
    for (int turn = 0; turn < turns; ++turn) {
        const double now = bound();
        if (now < log_bound_) {
            const bool is_enough = log_bound_ - now < enough && turn > 5 && step >= 0.5;
            log_bound_ = now;
            best = log_divisor_;
            if (is_enough) break;
            step = std::min(1.0, step * 1.2);
            std::fill(share.begin(), share.end(), 0.0);
            for (const std::vector<Entry> &row : rows_) {
                double left = 1;
                for (const Entry &e : row) {
                    share[at(e.step)] += left * e.weight;
                    left *= std::max(0.0, 1 - e.weight);
                }
            }
            of_best = share;
        } else {
            step /= 2;
            if (step < 1e-3) break;
        }
        for (std::size_t t = 0; t < best.size(); ++t)
            log_divisor_[t] = best[t] + step * std::log(std::max(of_best[t], 1e-3));
    }
    log_divisor_ = std::move(best);
    log_bound_ = bound();
}

void Potential::move(std::int32_t from, std::int32_t to) {
    const auto moved = [&](std::int32_t t) {
        if (t == from) return to;
        if (from < t && t <= to) return t - 1;
        return to <= t && t < from ? t + 1 : t;
    };
    const auto rotate = [&](auto begin) {
        if (from < to)
            std::rotate(begin + from, begin + from + 1, begin + to + 1);
        else
            std::rotate(begin + to, begin + from, begin + from + 1);
    };
    rotate(log_divisor_.begin());
    rotate(columns_.begin());
    for (std::vector<Entry> &row : rows_) {
        for (Entry &e : row) e.step = moved(e.step);
        std::sort(row.begin(), row.end(), [](const Entry &x, const Entry &y) { return x.step < y.step; });
    }
}

// One move after the other is made where it lowers the bound. Those that follow are tried at the same time,
// and what was tried before a move that is made counts for nothing: the same order with any number of
// threads.
void Potential::improve_order(int trials, double entries) {
    if (n() < 3) return;
    const auto at_once = static_cast<std::size_t>(
        std::clamp(oneapi::tbb::this_task_arena::max_concurrency(), 1, most_tried_at_once));
    Randomness random(0, searches_++);
    const double end = passed_ + entries;
    std::deque<std::pair<std::int32_t, std::int32_t>> moves;
    std::vector<Potential> tried(at_once, *this);
    for (int trial = 0; trial < trials && passed_ < end;) {
        while (moves.size() < at_once) {
            const auto from = static_cast<std::int32_t>(random.below(at(n())));
            moves.emplace_back(from, static_cast<std::int32_t>(random.below(at(n()))));
        }
        parallel_for(at_once, [&](std::uint64_t k) {
            poll();
            tried[k] = *this;
            if (moves[k].first == moves[k].second) return;
            tried[k].move(moves[k].first, moves[k].second);
            tried[k].descend(turns_of_a_trial);
        });
        const double before = passed_;
        for (Potential &one : tried) {
            if (trial++ >= trials || passed_ >= end) break;
            moves.pop_front();
            passed_ += one.passed_ - before;
            if (one.log_bound_ >= log_bound_) continue;
            one.passed_ = passed_;
            *this = std::move(one);
            break;
        }
    }
    descend(turns_at_first);
    arrange();
}

void Potential::arrange() {
    step_begin_.assign(rows_.size() + 1, 0);
    for (const auto &row : rows_)
        for (const Entry &e : row) step_begin_[at(e.step) + 1] += e.weight > 0;
    std::partial_sum(step_begin_.begin(), step_begin_.end(), step_begin_.begin());
    step_row_.resize(step_begin_.back());
    step_weight_.resize(step_begin_.back());
    std::vector<std::size_t> next(step_begin_.begin(), step_begin_.end() - 1);
    for (std::size_t i = 0; i < rows_.size(); ++i)
        for (const Entry &e : rows_[i])
            if (e.weight > 0) {
                step_row_[next[at(e.step)]] = static_cast<std::int32_t>(i);
                step_weight_[next[at(e.step)]++] = e.weight;
            }
}

// For a bound it is enough that g_i(t) >= g_i(t+1) exp(w), so each w and each sum is rounded up. The
// divisors' logarithms and the starts are what they are in doubles.
double Potential::log2_above(double share) const {
    constexpr double of_exponential = 0x1p-50; // its own, and the roundings of these few operations
    LogSum sum;
    for (const std::vector<Entry> &row : rows_) {
        const auto top = std::max_element(row.begin(), row.end(),
                                          [](const Entry &x, const Entry &y) { return x.weight < y.weight; });
        if (top == row.end() || !(top->weight > 0)) return infinity;
        double log = top->log - log_divisor_[at(top->step)] - std::log(top->weight); // of g_i behind it
        for (auto e = row.rbegin(); &*e != &*top; ++e) log -= e->weight;             // and at the end
        for (auto e = row.rbegin(); e != row.rend(); ++e) {
            const double divisor = log_divisor_[at(e->step)], exponent = e->log - divisor - log,
                         off = share * std::fabs(e->log) +
                               0x1p-51 * (std::fabs(e->log) + std::fabs(divisor) + std::fabs(log)),
                         weight = std::exp(exponent) * (1 + 1.1 * off + of_exponential);
            log = std::nextafter(log + weight, infinity);
        }
        sum.add(log);
    }
    for (const double divisor : log_divisor_) {
        sum.add(divisor);
        sum.add(-1);
    }
    const double above = sum.above() * std::numbers::log2e;
    return above + 0x1p-51 * std::fabs(above);
}

std::vector<WalkStep> Potential::steps() const {
    std::vector<WalkStep> out;
    out.reserve(rows_.size());
    for (std::size_t t = 0; t < rows_.size(); ++t) {
        const std::size_t begin = step_begin_[t], size = step_begin_[t + 1] - begin;
        out.push_back({{step_row_.data() + begin, size}, {step_weight_.data() + begin, size}});
    }
    return out;
}

double Potential::largest_log() const {
    double most = std::fabs(log_bound_);
    for (const auto &row : rows_)
        for (const Entry &e : row)
            most = std::max(most, std::fabs(e.log) + std::fabs(log_divisor_[at(e.step)]));
    return most;
}

} // namespace libperm
