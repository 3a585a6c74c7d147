#include "lib/ryser/sums.hpp"

#include "lib/number/bits.hpp"
#include "lib/ryser/sum.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace libperm {
namespace {

constexpr std::uint64_t run_length = 4096; // terms between two fresh starts of the row sums, at most
// Pieces are a property of the plan, so the result does not know of threads.
constexpr std::uint64_t most_pieces = 1 << 16;

// a * b exactly, but for underflow.
DoubleDouble two_product(double a, double b) {
    const double p = a * b;
    return {p, std::fma(a, b, -p)};
}

// Relative error at most 7 * 2^-106 (Joldes et al., DWTimesDW1), but for underflow; exact when the product is
// a multiple of the product of units of x and y and below 2^104 of it: then so are all partial results.
DoubleDouble operator*(DoubleDouble x, DoubleDouble y) {
    const DoubleDouble p = two_product(x.hi, y.hi);
    return two_sum(p.hi, p.lo + (x.hi * y.lo + x.lo * y.hi));
}

// No square is taken that the result does not hold, so none is larger when all are whole numbers.
DoubleDouble power(DoubleDouble x, std::int32_t exponent) {
    DoubleDouble result = x;
    for (bool first = true;; x = x * x) {
        if (exponent & 1) {
            result = first ? x : result * x;
            first = false;
        }
        exponent >>= 1;
        if (exponent == 0) return result;
    }
}

// C(m, k) / 2^m, by Pascal's triangle: at most m roundings, and none where C(m, k) < 2^104.
std::vector<DoubleDouble> binomials(std::int32_t m) {
    std::vector<DoubleDouble> c(at(m) + 1);
    c[0].hi = 1;
    for (std::int32_t row = 1; row <= m; ++row) {
        for (std::int32_t k = row; k > 0; --k) c[at(k)] = c[at(k)] + c[at(k - 1)];
        for (std::int32_t k = 0; k <= row; ++k) {
            c[at(k)].hi *= 0.5;
            c[at(k)].lo *= 0.5;
        }
    }
    return c;
}

constexpr std::int32_t most_exact_choices = 107; // C(107, 53) < 2^104

// Rows are scaled so that their sums are below 1 and weights by 2^-m_t, so that these add up to 1: no product
// of any of them is above 1, and an error made early is not magnified later.
class CountedSum {
  public:
    CountedSum(const RyserPlan &plan, const Block &block)
        : n_(block.n()),
          rows_(plan.row_kinds),
          columns_(plan.column_kinds),
          terms_(1),
          entries_(columns_.size()),
          exp2_(n_ - 1),
          unit_(1 - n_) {
        for (const EqualLines &c : columns_) {
            terms_ *= at(c.count) + 1;
            weights_.push_back(binomials(c.count));
            weights_are_exact_ = weights_are_exact_ && c.count <= most_exact_choices;
        }
        std::vector<Column> columns(at(n_));
        for (std::size_t t = 0; t < columns_.size(); ++t)
            columns[at(columns_[t].line)] = {t, columns_[t].count, false};
        columns[at(plan.last_column)].is_last = true;
        for (std::size_t r = 0; r < rows_.size(); ++r) set_up_row(r, block, columns);
    }

    std::uint64_t pieces() const { return std::clamp<std::uint64_t>(terms_ / run_length, 1, most_pieces); }

    Partial run_piece(std::uint64_t k, RunControl &control) const {
        const std::uint64_t end = piece_begin(k + 1);
        Partial partial;
        Walk walk(*this);
        for (std::uint64_t first = piece_begin(k); first < end; first += run_length) {
            const std::uint64_t length = std::min(run_length, end - first);
            walk.run(first, length, partial);
            control.advance(static_cast<double>(length));
        }
        return partial;
    }

    EngineResult close(const Partial &total, const Block &block) const {
        const double n = n_;
        const auto subsets = static_cast<double>(terms_);
        // Additions on the way of a term: in its piece, and of the pieces.
        const double additions =
            std::ceil(subsets / static_cast<double>(pieces())) + static_cast<double>(pieces());
        const double absolute = total.absolute * (1 + (additions + 8) * 0x1p-52) * (1 + 0x1p-40);
        const double factor = n_ % 2 ? 2 : -2;
        const double value = factor * total.sum.hi;
        double error = 2 * std::fabs(total.sum.lo); // the sum is known to 106 bits
        // When all terms together are below 2^104 of the unit that they are multiples of, so is each partial
        // product and sum on the way (those of whole numbers other than 0 do not get smaller): none rounds.
        const bool exact = drifting_rows_ == 0 && weights_are_exact_ && unit_ > -900 &&
                           absolute < std::ldexp(1.0, static_cast<int>(unit_ + 104));
        if (!exact) {
            // On the way of a term: n - 1 multiplications of row sums, one for each kind of columns, with as
            // many roundings of 3 * 2^-106 at most as there are columns in its weight.
            const double relative = (2 * n + static_cast<double>(columns_.size())) * 0x1p-103 + n * 0x1p-104 +
                                    additions * 0x1p-104;
            const double updates = static_cast<double>(run_length) + 2 * n;
            const double drift =
                drifting_rows_ == 0 ? 0
                                    : drifting_rows_ * updates * std::exp2(log2_largest_ - 103 + n * 0x1p-40);
            // Each operation on a term can lose some 2^-1074.
            const double underflow = subsets * n * (n + 64) * 0x1p-1074;
            error += 2 * (relative * absolute + drift + underflow) * (1 + 0x1p-10);
        }
        EngineResult result{ball_from(block, value, error, exp2_), {}};
        result.counts.subsets = subsets;
        return result;
    }

  private:
    struct Column { // of the block, if it is the lowest of its kind
        std::size_t kind = 0;
        std::int32_t count = 0;
        bool is_last = false;
    };
    struct Entry { // of a column, in a kind of rows
        std::size_t row;
        double value;
    };

    // In reflected mixed-radix Gray-code order (Knuth, The Art of Computer Programming 4A, 7.2.1.1): digit t
    // of a term's index counts the steps of k_t in its direction, which turns at each end.
    class Walk {
      public:
        explicit Walk(const CountedSum &sum)
            : sum_(sum), levels_(sum.columns_.size()), row_sums_(sum.start_), weights_(levels_.size() + 1) {
            weights_.back().hi = 1;
        }

        void run(std::uint64_t first, std::uint64_t length, Partial &partial) {
            start(first);
            for (std::uint64_t term = first;; ++term) {
                take(term & 1, partial); // each step changes the parity of sum k
                if (term + 1 == first + length) return;
                step();
            }
        }

      private:
        struct Level {
            std::int32_t digit, k;
            bool up;
        };

        void start(std::uint64_t index) {
            row_sums_ = sum_.start_;
            for (std::size_t t = 0; t < levels_.size(); ++t) {
                const std::int32_t count = sum_.columns_[t].count;
                const auto digit = static_cast<std::int32_t>(index % (at(count) + 1));
                index /= at(count) + 1;
                const bool up = index % 2 == 0;
                levels_[t] = {digit, up ? digit : count - digit, up};
                for (const Entry &e : sum_.entries_[t])
                    row_sums_[e.row] = row_sums_[e.row] + two_product(levels_[t].k, e.value);
            }
            weigh(levels_.size());
        }

        void step() {
            std::size_t t = 0;
            for (; levels_[t].digit == sum_.columns_[t].count; ++t) {
                levels_[t].digit = 0;
                levels_[t].up = !levels_[t].up;
            }
            const std::int32_t by = levels_[t].up ? 1 : -1;
            ++levels_[t].digit;
            levels_[t].k += by;
            for (const Entry &e : sum_.entries_[t]) row_sums_[e.row] = row_sums_[e.row] + by * e.value;
            weigh(t + 1);
        }

        // weights_[t] is that of the levels from t on: it has as many roundings each time.
        void weigh(std::size_t levels) {
            for (std::size_t t = levels; t-- > 0;)
                weights_[t] = weights_[t + 1] * sum_.weights_[t][at(levels_[t].k)];
        }

        void take(bool negative, Partial &partial) const {
            for (const DoubleDouble &s : row_sums_)
                if (s.hi == 0) return;
            DoubleDouble term = weights_[0];
            for (std::size_t r = 0; r < row_sums_.size(); ++r)
                term = term * power(row_sums_[r], sum_.rows_[r].count);
            partial.sum = partial.sum + (negative ? DoubleDouble{-term.hi, -term.lo} : term);
            partial.absolute += std::fabs(term.hi);
        }

        const CountedSum &sum_;
        std::vector<Level> levels_;
        std::vector<DoubleDouble> row_sums_, weights_;
    };

    void set_up_row(std::size_t r, const Block &block, const std::vector<Column> &columns) {
        struct Scaled {
            Column column;
            double value;
            std::int64_t exp2;
        };
        std::vector<Scaled> row;
        std::int64_t top = std::numeric_limits<std::int64_t>::min(); // every entry is below 2^top
        std::int64_t k = block.pattern.row_begin(rows_[r].line);
        for (const std::int32_t j : block.pattern.row(rows_[r].line)) {
            const Tracked &x = block.values[at(k++)];
            const Column &column = columns[at(j)];
            if (x.value == 0 || (column.count == 0 && !column.is_last)) continue;
            int exponent = 0;
            const double mantissa = std::frexp(x.value, &exponent);
            row.push_back({column, mantissa, x.exp2 + exponent});
            top = std::max(top, row.back().exp2);
        }
        start_.emplace_back();
        if (row.empty()) return;
        double absolute = 0;
        for (const Scaled &x : row)
            absolute += (x.column.count + x.column.is_last) *
                        std::fabs(std::ldexp(x.value, ldexp_exponent(x.exp2 - top)));
        int exponent = 0;
        absolute = 2 * std::frexp(absolute, &exponent);
        top += exponent - 1; // the absolute sum is in [1, 2) times 2^top; all row sums are at most half of it
        int unit = 0;        // and multiples of 2^(unit + top)
        for (const Scaled &x : row) {
            const int shift = ldexp_exponent(x.exp2 - top);
            const double value = std::ldexp(x.value, shift);
            unit = std::min(unit, unit_exponent(x.value) + shift - 1);
            start_.back() = start_.back() + two_product(0.5 * (x.column.is_last - x.column.count), value);
            if (x.column.count > 0) entries_[x.column.kind].push_back({r, value});
        }
        const std::int32_t count = rows_[r].count;
        exp2_ += count * top;
        unit_ += std::int64_t{count} * unit;
        log2_largest_ += count * (std::log2(absolute) - 1);
        if (unit < -103) drifting_rows_ += count;
    }

    std::uint64_t piece_begin(std::uint64_t k) const {
        return terms_ / pieces() * k + std::min(k, terms_ % pieces());
    }

    std::int32_t n_;
    const std::vector<EqualLines> &rows_, &columns_;
    std::uint64_t terms_;
    std::vector<DoubleDouble> start_;                // of the row sums
    std::vector<std::vector<Entry>> entries_;        // by kind of columns
    std::vector<std::vector<DoubleDouble>> weights_; // C(m, k) / 2^m
    bool weights_are_exact_ = true;
    std::int64_t exp2_;        // the permanent is the sum times 2^exp2_
    std::int64_t unit_;        // without roundings, all terms are multiples of 2^unit_
    double log2_largest_ = 0;  // of the largest product of row sums
    double drifting_rows_ = 0; // whose sums are not exact
};

} // namespace

EngineResult ryser_by_counts(const RyserPlan &plan, const Block &block, RunControl &control) {
    const CountedSum sum(plan, block);
    return sum.close(add_pieces(sum, sum.pieces(), plan.terms, control), block);
}

} // namespace libperm
