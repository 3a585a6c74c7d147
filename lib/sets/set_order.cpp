#include "lib/sets/set_order.hpp"

#include "jit/lanes/set_steps.hpp"
#include "lib/number/infinity.hpp"
#include "preprocess/index.hpp"
#include "preprocess/search_random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace libperm {
namespace {

class OrderSearch {
  public:
    OrderSearch(const Pattern &rows)
        : rows_(rows), first_(at(rows.cols)), last_(at(rows.cols)), change_(at(rows.rows) + 1) {}

    // Each next line lets the fewest others wait; `first` may be none.
    std::vector<std::int32_t> greedy(std::int32_t first) const {
        std::vector<std::int32_t> order, left(at(rows_.rows)), open_since(at(rows_.cols), -1),
            missing(at(rows_.cols), 0);
        std::iota(left.begin(), left.end(), 0);
        for (std::int32_t i = 0; i < rows_.rows; ++i)
            for (const std::int32_t j : rows_.row(i)) ++missing[at(j)];
        while (!left.empty()) {
            poll();
            std::size_t best = 0;
            double least = infinity;
            for (std::size_t k = 0; k < left.size(); ++k) {
                if (left[k] == first) {
                    best = k;
                    break;
                }
                double opens = 0, closes = 0, age = 0;
                for (const std::int32_t j : rows_.row(left[k])) {
                    if (open_since[at(j)] < 0)
                        ++opens;
                    else
                        age += static_cast<double>(std::ssize(order)) - open_since[at(j)];
                    closes += missing[at(j)] == 1 ? 1 : 0;
                }
                const double price = 1024 * (opens - closes) + 32 * opens - age / (age + 1);
                if (price < least) {
                    least = price;
                    best = k;
                }
            }
            const std::int32_t row = left[best];
            for (const std::int32_t j : rows_.row(row)) {
                --missing[at(j)];
                if (open_since[at(j)] < 0) open_since[at(j)] = static_cast<std::int32_t>(order.size());
            }
            order.push_back(row);
            left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
        }
        return order;
    }

    SetOrder priced(std::vector<std::int32_t> order) {
        SetOrder found{std::move(order), 0, 0};
        price(found);
        return found;
    }

    // Moves single lines for so many trials.
    void better(SetOrder &best, std::int64_t trials, std::uint64_t seed) {
        const auto count = static_cast<std::int32_t>(best.lines.size());
        if (count < 3) return;
        SearchRandom random(seed);
        SetOrder now = best, next;
        for (std::int64_t k = 0; k < trials; ++k) {
            if (k % 64 == 0) poll();
            const std::int32_t from = random.below(count), to = random.below(count);
            if (from == to) continue;
            next.lines = now.lines;
            const auto begin = next.lines.begin();
            if (from < to)
                std::rotate(begin + from, begin + from + 1, begin + to + 1);
            else
                std::rotate(begin + to, begin + from, begin + from + 1);
            price(next);
            const double warmth = 0.3 * (1 - static_cast<double>(k) / static_cast<double>(trials));
            if (next.operations <= now.operations * (1 + warmth * random.uniform())) std::swap(now, next);
            if (now.operations < best.operations) best = now;
        }
    }

  private:
    void price(SetOrder &of) {
        const auto count = static_cast<std::int32_t>(of.lines.size());
        std::fill(first_.begin(), first_.end(), count);
        std::fill(last_.begin(), last_.end(), -1);
        for (std::int32_t t = 0; t < count; ++t)
            for (const std::int32_t j : rows_.row(of.lines[at(t)])) {
                first_[at(j)] = std::min(first_[at(j)], t);
                last_[at(j)] = t;
            }
        std::fill(change_.begin(), change_.end(), 0);
        for (std::size_t j = 0; j < first_.size(); ++j)
            if (last_[j] >= 0) {
                ++change_[at(first_[j])];
                --change_[at(last_[j] + 1)];
            }
        of.operations = 0;
        of.widest = 0;
        std::int32_t wait = 0;
        for (std::int32_t t = 0; t < count; ++t) {
            wait += change_[at(t)];
            of.widest = std::max(of.widest, wait);
            const auto degree = static_cast<double>(rows_.row(of.lines[at(t)]).size());
            of.operations += std::ldexp(degree / 2 + 1.5, std::max(wait, set_block_bits));
        }
    }

    const Pattern &rows_;
    std::vector<std::int32_t> first_, last_, change_;
};

constexpr std::int32_t most_starts = 8;
constexpr double most_trials = 40000;

bool is_full(const Pattern &rows) {
    return rows.nnz() == std::int64_t{rows.rows} * rows.cols;
} // any is as good

double trials_worth(const Pattern &rows, const SetOrder &order) {
    constexpr double of_an_operation = 1e-9, of_an_entry = 4e-9; // seconds: of a walk and back, of a trial
    const double trial = of_an_entry * static_cast<double>(rows.nnz() + rows.cols + rows.rows + 100);
    return 0.1 * of_an_operation * order.operations / trial;
}

} // namespace

SetOrder greedy_set_order(const Pattern &rows) {
    OrderSearch search(rows);
    SetOrder best = search.priced(search.greedy(-1));
    if (is_full(rows)) return best;
    const std::int32_t starts = std::min(most_starts, rows.rows);
    for (std::int32_t k = 0; k < starts && trials_worth(rows, best) > rows.rows; ++k) {
        SetOrder other =
            search.priced(search.greedy(static_cast<std::int32_t>(std::int64_t{k} * rows.rows / starts)));
        if (other.operations < best.operations) best = std::move(other);
    }
    return best;
}

void better_set_order(const Pattern &rows, std::uint64_t seed, SetOrder &order) {
    if (is_full(rows)) return;
    OrderSearch search(rows);
    search.better(order, static_cast<std::int64_t>(std::min(trials_worth(rows, order), most_trials)), seed);
}

} // namespace libperm
