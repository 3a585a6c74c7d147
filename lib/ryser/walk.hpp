// Nijenhuis and Wilf's sum over any ring. With m_t the columns of kind t, the one left out not counted,
//   perm(A) = (4 (n mod 2) - 2) sum over 0 <= k_t <= m_t of
//             (-1)^(sum k) prod_t C(m_t, k_t) prod_i (x_i + sum_t k_t a_it)
// with x_i = a_{i,last} - 1/2 sum_j a_ij, a factor for each kind of rows to the power of their number. Where
// each line is a kind of its own that is the sum over subsets.
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

#include "lib/number/doubles.hpp"
#include "lib/run/pieces.hpp"
#include "lib/ryser/engine.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace libperm {

template <class Ring> class RyserSum {
  public:
    using RowSum = typename Ring::RowSum;
    using Product = typename Ring::Product;
    using Total = typename Ring::Total;

    // value(r, k): entry k of the pattern, which stands in the lowest row of kind r. Of equal lines only the
    // lowest are looked at: the others need not be there. The plan stays the caller's.
    template <class Value>
    RyserSum(const RyserPlan &plan, const Pattern &pattern, Ring ring, const Value &value)
        : ring_(std::move(ring)),
          rows_(plan.row_kinds),
          columns_(plan.column_kinds),
          start_(rows_.size(), ring_.zero()),
          entries_(columns_.size()) {
        std::vector<std::size_t> level(pattern.row_ptr.size() - 1, columns_.size());
        for (std::size_t t = 0; t < columns_.size(); ++t) {
            level[static_cast<std::size_t>(columns_[t].line)] = t;
            terms_ *= static_cast<std::uint64_t>(columns_[t].count) + 1;
        }
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            some_row_repeats_ = some_row_repeats_ || rows_[r].count > 1;
            auto k = static_cast<std::size_t>(pattern.row_begin(rows_[r].line));
            for (const std::int32_t j : pattern.row(rows_[r].line)) {
                const std::size_t t = level[static_cast<std::size_t>(j)];
                const RowSum x = value(r, k);
                RowSum half = x;
                ring_.halve(half);
                if (j == plan.last_column) ring_.add(start_[r], half);
                if (t < entries_.size()) {
                    for (std::int32_t c = 0; c < columns_[t].count; ++c) ring_.subtract(start_[r], half);
                    entries_[t].push_back({r, x});
                }
                ++k;
            }
        }
        if (plan.has_weights())
            for (const EqualLines &c : columns_) weights_.push_back(ring_.weights(c.count));
    }

    const Ring &ring() const { return ring_; }
    const std::vector<EqualLines> &columns() const { return columns_; } // of the sum, a level each
    std::uint64_t terms() const { return terms_; }
    bool has_weights() const { return !weights_.empty(); }

    // A property of the plan, so the result does not know of threads.
    std::uint64_t pieces() const {
        return std::clamp<std::uint64_t>(terms_ / Ring::run_length, 1, most_pieces);
    }

    // On the way of a term: in its stretch, its run, its piece, a group of pieces, and of the groups.
    double additions() const {
        const std::uint64_t runs = terms_ / pieces() / Ring::run_length + 2;
        const std::uint64_t most = 2 * stretch + Ring::run_length / stretch + runs + pieces() / stretch + 4;
        return static_cast<double>(std::min(terms_, most));
    }

    // And at most so many multiplications, the lanes' included, where a weight's own rounding is one.
    double multiplications() const {
        double n = 1;
        for (const EqualLines &c : columns_) n += c.count;
        return n + lanes + (has_weights() ? 2 * static_cast<double>(columns_.size()) + 1 : 0);
    }

    Total run_piece(std::uint64_t k) const {
        const std::uint64_t end = piece_begin(k + 1);
        Total total = ring_.total();
        Walk walk(*this, piece_begin(k));
        for (std::uint64_t begin = piece_begin(k); begin < end; begin += Ring::run_length) {
            const std::uint64_t run_end = std::min(begin + Ring::run_length, end);
            Total run = ring_.total();
            for (std::uint64_t at = begin; at < run_end; at += stretch)
                with_fma([&] { ring_.add(run, walk.next(std::min(stretch, run_end - at))); });
            ring_.add(total, run);
            call().advance(static_cast<double>(run_end - begin));
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
              weights_(sum.has_weights() ? levels_.size() + 1 : 0, one_) {
            start(first);
        }

        // Sums so many terms from here.
        Total next(std::uint64_t length) {
            Total total = ring_.total();
            for (const std::uint64_t end = term_ + length; term_ < end;) {
                if (zeros_ == 0) take(term_ & 1, total); // each step changes the parity of sum k
                if (++term_ < sum_.terms_) step();
            }
            return total;
        }

      private:
        struct Level {
            std::int32_t count, digit, k;
            bool up;
        };

        void start(std::uint64_t index) {
            row_sums_ = sum_.start_;
            for (std::size_t t = 0; t < levels_.size(); ++t) {
                const std::int32_t count = sum_.columns_[t].count;
                const std::uint64_t radix = static_cast<std::uint64_t>(count) + 1;
                const auto digit = static_cast<std::int32_t>(index % radix);
                index /= radix;
                const bool up = index % 2 == 0;
                levels_[t] = {count, digit, up ? digit : count - digit, up};
                for (std::int32_t k = 0; k < levels_[t].k; ++k)
                    for (const Entry &e : sum_.entries_[t]) ring_.add(row_sums_[e.row], e.value);
            }
            zeros_ = 0;
            for (const RowSum &x : row_sums_) zeros_ += ring_.is_zero(x);
            weigh(levels_.size());
        }

        void step() {
            std::size_t t = 0;
            for (; levels_[t].digit == levels_[t].count; ++t) {
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

        void take(bool negative, Total &total) const {
            std::array<Product, lanes> products;
            products.fill(one_);
            if (sum_.some_row_repeats_)
                multiply_rows(products, [this](Product &to, std::size_t row) { multiply_power(to, row); });
            else
                multiply_rows(products, [this](Product &to, std::size_t row) {
                    Product x;
                    ring_.round(x, row_sums_[row]);
                    ring_.multiply(to, x);
                });
            const std::size_t rows = row_sums_.size();
            if (rows > 1) ring_.multiply(products[0], products[1]);
            if (rows > 3) ring_.multiply(products[2], products[3]);
            if (rows > 2) ring_.multiply(products[0], products[2]);
            if (!weights_.empty()) ring_.multiply(products[0], weights_[0]);
            ring_.add(total, products[0], negative);
        }

        template <class Multiply>
        void multiply_rows(std::array<Product, lanes> &products, const Multiply &multiply) const {
            const std::size_t rows = row_sums_.size();
            std::size_t r = 0;
            for (; r + lanes <= rows; r += lanes)
                for (std::size_t k = 0; k < lanes; ++k) multiply(products[k], r + k);
            for (std::size_t k = 0; r < rows; ++k, ++r) multiply(products[k], r);
        }

        // No square is taken that the result does not hold, so none is larger when all are whole numbers.
        void multiply_power(Product &product, std::size_t row) const {
            Product power;
            ring_.round(power, row_sums_[row]);
            for (std::int32_t exponent = sum_.rows_[row].count;; ring_.multiply(power, power)) {
                if (exponent & 1) ring_.multiply(product, power);
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
        Product one_;
        std::vector<Product> weights_;
    };

    std::uint64_t piece_begin(std::uint64_t k) const {
        return terms_ / pieces() * k + std::min(k, terms_ % pieces());
    }

    Ring ring_;
    const std::vector<EqualLines> &rows_, &columns_;
    std::uint64_t terms_ = 1;
    bool some_row_repeats_ = false;
    std::vector<RowSum> start_;                 // of the row sums
    std::vector<std::vector<Entry>> entries_;   // by level
    std::vector<std::vector<Product>> weights_; // none: each column is there once
};

// Each sum's total; all sums are of one plan. The pieces of the second follow those of the first.
template <class Ring> std::vector<typename Ring::Total> totals_of(const std::vector<RyserSum<Ring>> &sums) {
    using Total = typename Ring::Total;
    std::vector<Total> totals;
    if (sums.empty()) return totals;
    const std::uint64_t pieces = sums.front().pieces();
    const double terms = static_cast<double>(sums.front().terms());
    const auto run = [&](std::uint64_t k) { return sums[k / pieces].run_piece(k % pieces); };
    const std::vector<Total> parts =
        parts_of_pieces(pieces * sums.size(), terms / static_cast<double>(pieces),
                        sums.front().ring().total(), each_on_its_thread(run));
    for (std::size_t k = 0; k < sums.size(); ++k)
        totals.push_back(sums[k].add_pieces(std::span<const Total>(parts).subspan(k * pieces, pieces)));
    return totals;
}

} // namespace libperm
