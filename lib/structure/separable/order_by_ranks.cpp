#include "lib/structure/separable/orders.hpp"

#include "lib/number/montgomery.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace libperm {
namespace {

using Lines = std::vector<std::size_t>;

// By the numbers of their representatives: rows and columns that are multiples of each other.
struct MultipleLines {
    std::vector<Lines> rows, cols;
};

std::vector<Lines> multiples(const DenseResidues &matrix, bool are_rows) {
    const Montgomery field(matrix.prime);
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> weights(2 * matrix.n);
    for (std::uint64_t &x : weights) x = field.to(random());
    std::map<std::uint64_t, Lines> classes; // by the ratio of two sums
    for (std::size_t k = 0; k < matrix.n; ++k) {
        std::uint64_t sums[2] = {0, 0};
        for (std::size_t j = 0; j < matrix.n; ++j)
            for (const std::size_t side : {0, 1})
                sums[side] =
                    field.add(sums[side],
                              field.multiply(weights[2 * j + side],
                                             matrix.values[are_rows ? k * matrix.n + j : j * matrix.n + k]));
        const std::uint64_t inverse = field.power(field.to(sums[1]), matrix.prime - 2);
        classes[field.multiply(sums[0], inverse)].push_back(k);
    }
    std::vector<Lines> all;
    for (auto &[ratio, lines] : classes) all.push_back(std::move(lines));
    std::ranges::sort(all);
    return all;
}

struct Part {
    Lines rows, cols;
};

// One of each class; of few of them most matrices show already that there are no ends.
Part representatives(const MultipleLines &classes, std::size_t most) {
    const auto some = [most](const std::vector<Lines> &all) {
        Lines lines;
        const std::size_t count = std::min(all.size(), most);
        for (std::size_t k = 0; k < count; ++k) lines.push_back(all[k * all.size() / count].front());
        return lines;
    };
    return {some(classes.rows), some(classes.cols)};
}

// Rows B and columns P, and what is left of the others, all by their places in a part.
struct Ends {
    Lines rows, cols;
    Lines left_of_rows, left_of_cols; // of each: how many of its entries are not 0 then
    std::size_t zeros = 0;            // of lines that are not among these
    std::size_t told_apart = 0;       // numbers that are left, each counted once

    bool operator<(const Ends &other) const {
        return std::pair(told_apart, zeros) < std::pair(other.told_apart, other.zeros);
    }
};

Lines ascending(const Lines &numbers) {
    Lines lines(numbers.size());
    std::iota(lines.begin(), lines.end(), std::size_t{0});
    std::ranges::stable_sort(lines, {}, [&](std::size_t line) { return numbers[line]; });
    return lines;
}

std::size_t distinct(Lines numbers) {
    std::ranges::sort(numbers);
    return numbers.size() - std::ranges::unique(numbers).size();
}

class EndSearch {
  public:
    EndSearch(const DenseResidues &matrix, Part part, std::size_t rank, std::uint64_t seed)
        : matrix_(matrix),
          part_(std::move(part)),
          field_(matrix.prime),
          rank_(rank),
          reduced_(rank, std::vector<std::uint64_t>(part_.cols.size())),
          random_(seed),
          steps_() {}

    bool is_enough() const { return std::min(part_.rows.size(), part_.cols.size()) > 2 * rank_; }

    // The best of some at random; none: each block of them is singular.
    std::optional<Ends> best_of(int tries) {
        std::optional<Ends> best;
        for (int k = 0; k < tries; ++k) {
            Lines rows = some_of(ascending(Lines(part_.rows.size()))),
                  cols = some_of(ascending(Lines(part_.cols.size())));
            keep_better(best, at_ends(std::move(rows), std::move(cols)));
        }
        return best;
    }

    std::optional<Ends> at_ends(Lines rows, Lines cols) {
        const std::size_t m = part_.rows.size(), n = part_.cols.size();
        steps_.take(static_cast<std::int64_t>(2 * (rank_ + 1) * m * n));
        if (!reduce(rows, cols)) return {};
        Ends ends{std::move(rows), std::move(cols), Lines(m), Lines(n)};
        for (std::size_t k = 0; k < m; ++k)
            for (std::size_t j = 0; j < n; ++j) {
                const bool is_left = rest(ends, k, j) != 0;
                ends.left_of_rows[k] += is_left;
                ends.left_of_cols[j] += is_left;
                ends.zeros += !is_left;
            }
        ends.zeros -= rank_ * (m + n - rank_); // their own
        ends.told_apart = distinct(ends.left_of_rows) + distinct(ends.left_of_cols);
        return ends;
    }

    // How many zeros have zeros alone behind them in their rows, where least is left of the last columns: by
    // chance few, also where there are many.
    std::size_t nested(const Ends &ends) {
        reduce(ends.rows, ends.cols);
        const Lines last_first = ascending(ends.left_of_cols);
        std::size_t count = 0;
        for (std::size_t k = 0; k < part_.rows.size(); ++k)
            for (const std::size_t j : last_first) {
                if (rest(ends, k, j) != 0) break;
                ++count;
            }
        return count - rank_ * (part_.rows.size() + part_.cols.size() - rank_);
    }

    // With some of the lines that are left least of in place of these, as long as that is better.
    Ends improved(Ends ends) {
        constexpr int most_in_vain = 12;
        std::optional<Ends> best = std::move(ends);
        for (int in_vain = 0; in_vain < most_in_vain; ++in_vain)
            for (const bool is_row : {true, false})
                if (keep_better(best, with(*best, is_row, some_of(nearest(*best, is_row))))) in_vain = 0;
        return std::move(*best);
    }

    // The same lines in a larger part.
    static Lines places(const Lines &lines, const Lines &from, const Lines &in) {
        Lines all;
        for (const std::size_t line : lines)
            all.push_back(static_cast<std::size_t>(std::ranges::find(in, from[line]) - in.begin()));
        return all;
    }
    const Part &part() const { return part_; }

  private:
    std::uint64_t entry(std::size_t k, std::size_t j) const {
        return matrix_.values[part_.rows[k] * matrix_.n + part_.cols[j]];
    }

    std::uint64_t rest(const Ends &ends, std::size_t k, std::size_t j) const {
        std::uint64_t left = entry(k, j);
        for (std::size_t t = 0; t < rank_; ++t)
            left = field_.subtract(left, field_.multiply(entry(k, ends.cols[t]), reduced_[t][j]));
        return left;
    }

    Lines some_of(Lines lines) {
        for (std::size_t t = 0; t < rank_; ++t)
            std::swap(lines[t], lines[t + random_() % (lines.size() - t)]);
        lines.resize(rank_);
        return lines;
    }

    static bool keep_better(std::optional<Ends> &best, std::optional<Ends> other) {
        if (!other || (best && !(*best < *other))) return false;
        best = std::move(other);
        return true;
    }

    std::optional<Ends> with(const Ends &ends, bool is_row, Lines lines) {
        return is_row ? at_ends(std::move(lines), ends.cols) : at_ends(ends.rows, std::move(lines));
    }

    // These, those that no more is left of than of any other line, and some that follow.
    Lines nearest(const Ends &ends, bool is_row) const {
        constexpr std::size_t least = 6;
        const Lines &left = is_row ? ends.left_of_rows : ends.left_of_cols;
        Lines lines = ascending(left);
        std::size_t count = std::min(rank_ + least, lines.size());
        while (count < lines.size() && left[lines[count]] == left[lines[rank_]]) ++count;
        lines.resize(count);
        return lines;
    }

    // a[B,P]^-1 a[B,.], in Montgomery's form.
    bool reduce(const Lines &rows, const Lines &cols) {
        const std::size_t n = part_.cols.size();
        for (std::size_t t = 0; t < rank_; ++t)
            for (std::size_t j = 0; j < n; ++j) reduced_[t][j] = field_.to(entry(rows[t], j));
        for (std::size_t t = 0; t < rank_; ++t) {
            std::size_t pivot = t;
            while (pivot < rank_ && reduced_[pivot][cols[t]] == 0) ++pivot;
            if (pivot == rank_) return false;
            std::swap(reduced_[t], reduced_[pivot]);
            const std::uint64_t inverse = field_.power(reduced_[t][cols[t]], field_.prime() - 2);
            for (std::uint64_t &x : reduced_[t]) x = field_.multiply(x, inverse);
            for (std::size_t s = 0; s < rank_; ++s) {
                const std::uint64_t factor = reduced_[s][cols[t]];
                for (std::size_t j = 0; s != t && factor != 0 && j < n; ++j)
                    reduced_[s][j] = field_.subtract(reduced_[s][j], field_.multiply(factor, reduced_[t][j]));
            }
        }
        return true;
    }

    const DenseResidues &matrix_;
    Part part_;
    Montgomery field_;
    std::size_t rank_;
    std::vector<std::vector<std::uint64_t>> reduced_;
    std::mt19937_64 random_;
    PolledSteps steps_;
};

// Those of the classes that come to so many, from the least or from the greatest.
Lines all_lines(const std::vector<Lines> &classes, const Lines &order) {
    Lines lines;
    for (const std::size_t k : order) lines.insert(lines.end(), classes[k].begin(), classes[k].end());
    return lines;
}

} // namespace

std::optional<LineOrder> order_by_ranks(const DenseResidues &matrix, std::size_t rank, std::uint64_t seed) {
    constexpr int tries[] = {2, 8, 32}; // of B and P a third, or a tenth, are apart from each other
    constexpr std::size_t few = 24;
    constexpr double least_nested = 0.15;
    const MultipleLines classes{multiples(matrix, true), multiples(matrix, false)};
    EndSearch of_few(matrix, representatives(classes, few), rank, seed);
    if (!of_few.is_enough()) return {};
    std::optional<Ends> found = of_few.best_of(tries[rank - 1]);
    if (!found || found->zeros == 0) return {};
    *found = of_few.improved(std::move(*found));
    const auto entries = static_cast<double>(found->left_of_rows.size() * found->left_of_cols.size());
    if (static_cast<double>(of_few.nested(*found)) < least_nested * entries) return {};
    EndSearch of_all(matrix, representatives(classes, matrix.n), rank, seed);
    const Ends ends = of_all.improved(
        *of_all.at_ends(EndSearch::places(found->rows, of_few.part().rows, of_all.part().rows),
                        EndSearch::places(found->cols, of_few.part().cols, of_all.part().cols)));
    LineOrder order{all_lines(classes.rows, ascending(ends.left_of_rows)),
                    all_lines(classes.cols, ascending(ends.left_of_cols))};
    std::ranges::reverse(order.cols);
    return order;
}

} // namespace libperm
