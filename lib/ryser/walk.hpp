// Nijenhuis and Wilf's sum over any ring, in both shapes of a RyserPlan: subsets are counts of at most 1, of
// columns and rows each of a kind of its own (lib/ryser/counted.hpp has the formula).
//
// A Ring has
//   RowSum, Product, Total     sums of a row's entries, products of these, sums of products
//   run_length                 terms that take a millisecond or so
//   zero(), one(), total()     a RowSum, a Product, an empty Total
//   add, subtract, halve       of row sums, in place; they round nowhere
//   is_zero
//   round(product, row_sum)    product = row_sum
//   multiply(product, product)
//   weights(m)                 C(m, 0), ..., C(m, m), times 2^-m where the numbers are not residues
//   add(total, term, negative), add(total, total)
#pragma once

#include "lib/number/with_fma.hpp"
#include "lib/run/pieces.hpp"
#include "lib/ryser/ryser.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace libperm {

// What both shapes of a plan have in common.
struct RyserShape {
    std::vector<EqualLines> rows, columns; // the columns of the sum, a level each, without the last
    std::int32_t last_column = 0;
    std::uint64_t terms = 1;
    bool weighted = false; // some column is there twice

    explicit RyserShape(const RyserPlan &plan) {
        if (plan.counted()) {
            rows = plan.row_kinds;
            columns = plan.column_kinds;
            last_column = plan.last_column;
        } else {
            for (std::size_t k = 0; k < plan.columns.size(); ++k)
                rows.push_back({static_cast<std::int32_t>(k), 1});
            for (const std::int32_t j : plan.columns) columns.push_back({j, 1});
            columns.pop_back();
            last_column = plan.columns.back();
        }
        for (const EqualLines &c : columns) {
            terms *= static_cast<std::uint64_t>(c.count) + 1;
            weighted = weighted || c.count > 1;
        }
    }
};

template <class Ring> class RyserSum {
  public:
    using RowSum = typename Ring::RowSum;
    using Product = typename Ring::Product;
    using Total = typename Ring::Total;

    // `values` by entry of the pattern. Of equal lines only the lowest are looked at: the others need not be
    // there.
    RyserSum(const RyserPlan &plan, const Pattern &pattern, Ring ring, const std::vector<RowSum> &values)
        : ring_(std::move(ring)), shape_(plan), start_(shape_.rows.size(), ring_.zero()) {
        std::vector<std::size_t> level(pattern.row_ptr.size() - 1, shape_.columns.size());
        for (std::size_t t = 0; t < shape_.columns.size(); ++t)
            level[static_cast<std::size_t>(shape_.columns[t].line)] = t;
        entries_.resize(shape_.columns.size());
        for (std::size_t r = 0; r < shape_.rows.size(); ++r) {
            auto k = static_cast<std::size_t>(pattern.row_begin(shape_.rows[r].line));
            for (const std::int32_t j : pattern.row(shape_.rows[r].line)) {
                const std::size_t t = level[static_cast<std::size_t>(j)];
                RowSum half = values[k];
                ring_.halve(half);
                if (j == shape_.last_column) ring_.add(start_[r], half);
                if (t < entries_.size()) {
                    for (std::int32_t c = 0; c < shape_.columns[t].count; ++c)
                        ring_.subtract(start_[r], half);
                    entries_[t].push_back({r, values[k]});
                }
                ++k;
            }
        }
        for (const EqualLines &c : shape_.columns)
            weights_.push_back(shape_.weighted ? ring_.weights(c.count) : std::vector<Product>());
    }

    const Ring &ring() const { return ring_; }
    const RyserShape &shape() const { return shape_; }

    // A property of the plan, so the result does not know of threads.
    std::uint64_t pieces() const {
        return std::clamp<std::uint64_t>(shape_.terms / Ring::run_length, 1, most_pieces);
    }

    // On the way of a term: in its stretch, its run, its piece, a group of pieces, and of the groups.
    double additions() const {
        const std::uint64_t runs = shape_.terms / pieces() / Ring::run_length + 2;
        const std::uint64_t most = 2 * stretch + Ring::run_length / stretch + runs + pieces() / stretch + 4;
        return static_cast<double>(std::min(shape_.terms, most));
    }

    // And at most so many multiplications, the lanes' included, where a weight's own rounding is one.
    double multiplications() const {
        double n = 1;
        for (const EqualLines &c : shape_.columns) n += c.count;
        return n + lanes + (shape_.weighted ? 2 * static_cast<double>(shape_.columns.size()) + 1 : 0);
    }

    Total run_piece(std::uint64_t k, RunControl &control) const {
        const std::uint64_t end = piece_begin(k + 1);
        Total total = ring_.total();
        Walk walk(*this, piece_begin(k));
        for (std::uint64_t begin = piece_begin(k); begin < end; begin += Ring::run_length) {
            const std::uint64_t run_end = std::min(begin + Ring::run_length, end);
            Total run = ring_.total();
            for (std::uint64_t at = begin; at < run_end; at += stretch)
                with_fma([&] { ring_.add(run, walk.next(std::min(stretch, run_end - at))); });
            ring_.add(total, run);
            control.advance(static_cast<double>(run_end - begin));
        }
        return total;
    }

    // Adds in the order of the pieces, whoever ran them.
    Total add_pieces(std::span<const Total> pieces) const {
        Total total = ring_.total();
        for (std::size_t first = 0; first < pieces.size(); first += stretch) {
            Total group = ring_.total();
            for (const Total &x :
                 pieces.subspan(first, std::min<std::size_t>(stretch, pieces.size() - first)))
                ring_.add(group, x);
            ring_.add(total, group);
        }
        return total;
    }

  private:
    static constexpr std::uint64_t most_pieces = 1 << 16;
    static constexpr std::uint64_t stretch = 64; // long sums are sums of sums of so many, which err less
    static constexpr std::size_t lanes = 4;      // products side by side, which need not wait for each other

    struct Entry { // of a column, in a kind of rows
        std::size_t row;
        RowSum value;
    };

    // In reflected mixed-radix Gray-code order (Knuth, The Art of Computer Programming 4A, 7.2.1.1): digit t
    // of a term's index counts the steps of k_t in its direction, which turns at each end.
    class Walk {
      public:
        Walk(const RyserSum &sum, std::uint64_t first)
            : sum_(sum),
              ring_(sum.ring_),
              term_(first),
              levels_(sum.entries_.size()),
              one_(ring_.one()),
              power_(one_),
              products_(lanes, one_),
              weights_(sum.shape_.weighted ? levels_.size() + 1 : 0, one_) {
            start(first);
        }

        // Sums so many terms from here.
        Total next(std::uint64_t length) {
            Total total = ring_.total();
            for (const std::uint64_t end = term_ + length; term_ < end;) {
                if (zeros_ == 0) take(term_ & 1, total); // each step changes the parity of sum k
                if (++term_ < sum_.shape_.terms) step();
            }
            return total;
        }

      private:
        struct Level {
            std::int32_t digit, k;
            bool up;
        };

        void start(std::uint64_t index) {
            row_sums_ = sum_.start_;
            for (std::size_t t = 0; t < levels_.size(); ++t) {
                const std::int32_t count = sum_.shape_.columns[t].count;
                const std::uint64_t radix = static_cast<std::uint64_t>(count) + 1;
                const auto digit = static_cast<std::int32_t>(index % radix);
                index /= radix;
                const bool up = index % 2 == 0;
                levels_[t] = {digit, up ? digit : count - digit, up};
                for (std::int32_t k = 0; k < levels_[t].k; ++k)
                    for (const Entry &e : sum_.entries_[t]) ring_.add(row_sums_[e.row], e.value);
            }
            zeros_ = 0;
            for (const RowSum &x : row_sums_) zeros_ += ring_.is_zero(x);
            weigh(levels_.size());
        }

        void step() {
            std::size_t t = 0;
            for (; levels_[t].digit == sum_.shape_.columns[t].count; ++t) {
                levels_[t].digit = 0;
                levels_[t].up = !levels_[t].up;
            }
            ++levels_[t].digit;
            if (levels_[t].up) {
                ++levels_[t].k;
                change(t, [&](RowSum &to, const RowSum &x) { ring_.add(to, x); });
            } else {
                --levels_[t].k;
                change(t, [&](RowSum &to, const RowSum &x) { ring_.subtract(to, x); });
            }
            weigh(t + 1);
        }

        template <class Change> void change(std::size_t t, Change by) {
            for (const Entry &e : sum_.entries_[t]) {
                RowSum &x = row_sums_[e.row];
                zeros_ -= ring_.is_zero(x);
                by(x, e.value);
                zeros_ += ring_.is_zero(x);
            }
        }

        // weights_[t] is that of the levels from t on: it has as many roundings each time.
        void weigh(std::size_t levels) {
            if (weights_.empty()) return;
            for (std::size_t t = levels; t-- > 0;) {
                weights_[t] = weights_[t + 1];
                ring_.multiply(weights_[t], sum_.weights_[t][static_cast<std::size_t>(levels_[t].k)]);
            }
        }

        void take(bool negative, Total &total) {
            const std::vector<EqualLines> &rows = sum_.shape_.rows;
            for (Product &x : products_) x = one_;
            for (std::size_t r = 0; r < rows.size(); ++r) {
                ring_.round(power_, row_sums_[r]);
                multiply_by_power(products_[r % lanes], rows[r].count);
            }
            ring_.multiply(products_[0], products_[1]);
            ring_.multiply(products_[2], products_[3]);
            ring_.multiply(products_[0], products_[2]);
            if (!weights_.empty()) ring_.multiply(products_[0], weights_[0]);
            ring_.add(total, products_[0], negative);
        }

        // No square is taken that the result does not hold, so none is larger when all are whole numbers.
        void multiply_by_power(Product &product, std::int32_t exponent) {
            for (;; ring_.multiply(power_, power_)) {
                if (exponent & 1) ring_.multiply(product, power_);
                exponent >>= 1;
                if (exponent == 0) return;
            }
        }

        const RyserSum &sum_;
        const Ring &ring_;
        std::uint64_t term_; // the next one's index
        std::vector<Level> levels_;
        std::vector<RowSum> row_sums_;
        std::int64_t zeros_ = 0; // among these
        Product one_, power_;
        std::vector<Product> products_, weights_;
    };

    std::uint64_t piece_begin(std::uint64_t k) const {
        const std::uint64_t terms = shape_.terms;
        return terms / pieces() * k + std::min(k, terms % pieces());
    }

    Ring ring_;
    RyserShape shape_;
    std::vector<RowSum> start_;               // of the row sums
    std::vector<std::vector<Entry>> entries_; // by level
    std::vector<std::vector<Product>> weights_;
};

// Each sum's total; all sums are of one plan. The pieces of the second follow those of the first.
template <class Ring>
std::vector<typename Ring::Total> totals_of(const std::vector<RyserSum<Ring>> &sums, RunControl &control) {
    using Total = typename Ring::Total;
    std::vector<Total> totals;
    if (sums.empty()) return totals;
    const std::uint64_t pieces = sums.front().pieces();
    const double terms = static_cast<double>(sums.front().shape().terms);
    const auto run = [&](std::uint64_t k) { return sums[k / pieces].run_piece(k % pieces, control); };
    const std::vector<Total> parts =
        parts_of_pieces(control, pieces * sums.size(), terms / static_cast<double>(pieces),
                        sums.front().ring().total(), each_on_its_thread(control, run));
    for (std::size_t k = 0; k < sums.size(); ++k)
        totals.push_back(sums[k].add_pieces(std::span<const Total>(parts).subspan(k * pieces, pieces)));
    return totals;
}

} // namespace libperm
