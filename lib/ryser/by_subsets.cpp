#include "lib/ryser/sums.hpp"

#include "lib/number/scaled_rows.hpp"
#include "lib/ryser/sum.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace libperm {
namespace {

constexpr int run_bits = 14; // subsets between two fresh starts of the row sums: 2^14 at most
// Pieces are a property of n alone, so the result does not know of threads.
constexpr int most_piece_bits = 16;

// perm(A) = (4 (n mod 2) - 2) sum over S of {0..n-2}, (-1)^|S| prod_i (x_i + sum_{j in S} a_ij), with
// x_i = a_{i,n-1} - 1/2 sum_j a_ij. Row sums are double-doubles: with entries of a row within a factor 2^50
// of each other they are exact, so no error builds up along the Gray code and a zero is a true zero.
class NijenhuisWilf {
  public:
    NijenhuisWilf(const RyserPlan &plan, const Block &block) : n_(block.n()) {
        const Pattern &p = block.pattern;
        std::vector<std::int32_t> place(at(n_)); // of a column in the order
        for (std::int32_t k = 0; k < n_; ++k) place[at(plan.columns[at(k)])] = k;

        const ScaledRows rows = scaled_rows(block);
        exp2_ = rows.exp2;
        start_.resize(at(n_));
        for (std::int32_t i = 0; i < n_; ++i) {
            DoubleDouble x;
            for_row(p, i, [&](std::int32_t j, std::size_t k) {
                x = x + (place[at(j)] == n_ - 1 ? 0.5 : -0.5) * rows.value[k];
            });
            start_[at(i)] = x;
            const int unit = rows.unit[at(i)]; // all its sums are multiples of 2^unit, and at most 1/2
            log2_largest_ += std::log2(rows.absolute[at(i)]) - 1; // |x_i| <= half the absolute sum
            if (unit < -104) drifting_rows_ += 1;
            sum_bits_ += -1 - unit;
            unit_ += unit;
        }
        column_ptr_.assign(at(n_) + 1, 0);
        for (std::size_t k = 0; k < p.col.size(); ++k) ++column_ptr_[at(place[at(p.col[k])]) + 1];
        std::partial_sum(column_ptr_.begin(), column_ptr_.end(), column_ptr_.begin());
        row_.resize(p.col.size());
        value_.resize(p.col.size());
        std::vector<std::int64_t> next(column_ptr_.begin(), column_ptr_.end() - 1);
        for (std::int32_t i = 0; i < n_; ++i)
            for_row(p, i, [&](std::int32_t j, std::size_t k) {
                const auto to = at(next[at(place[at(j)])]++);
                row_[to] = i;
                value_[to] = rows.value[k];
            });
    }

    std::uint64_t pieces() const { return std::uint64_t{1} << piece_bits(); }

    // Piece k: the subsets with Gray-code index k * 2^(n-1-piece_bits) and on.
    Partial run_piece(std::uint64_t k, RunControl &control) const {
        const std::uint64_t length = subsets() >> piece_bits();
        const std::uint64_t run = std::min(length, std::uint64_t{1} << run_bits);
        Partial partial;
        Sums sums(at(n_));
        for (std::uint64_t first = k * length; first < (k + 1) * length; first += run) {
            walk(first, run, sums, partial);
            control.advance(static_cast<double>(run));
        }
        return partial;
    }

    EngineResult close(const Partial &total, const Block &block) const {
        EngineResult result;
        const double factor = n_ % 2 ? 2 : -2;
        const DoubleDouble sum = total.sum;
        const double value = factor * (sum.hi + sum.lo);
        result.counts.subsets = static_cast<double>(subsets());
        // Products of whole numbers that fit a double, and sums of them that fit two, round nowhere.
        if (sum_bits_ <= 53 && n_ - 1 + sum_bits_ <= 104 && unit_ > -1000 && sum.lo == 0) {
            result.value = ball_from(block, value, 0, exp2_);
            return result;
        }
        const double log2_subsets = n_ - 1;
        // On the way of each term: n roundings of row sums to double, n - 1 of the product, one of the
        // result. The sum itself, a double-double, and the count of |terms|, a double, round once for each
        // subset.
        const double relative = (gamma_bound(2.0 * n_ + 4) + std::exp2(log2_subsets - 104)) * total.absolute *
                                (1 + std::exp2(log2_subsets - 52));
        // Row sums that are not exact drift by at most 2^-103 of their largest for each of a run's updates;
        // and every product may lose 2^-1074 to underflow.
        const double updates =
            static_cast<double>(std::uint64_t{1} << run_bits) + static_cast<double>(row_.size());
        const double drift =
            drifting_rows_ == 0
                ? 0
                : drifting_rows_ * updates * std::exp2(log2_subsets + log2_largest_ - 103 + n_ * 0x1p-40);
        const double underflow =
            std::exp2(log2_subsets) * (n_ + static_cast<double>(row_.size())) * 0x1p-1073;
        result.value = ball_from(block, value, 2 * (relative + drift + underflow), exp2_);
        return result;
    }

  private:
    struct Sums {
        std::vector<double> hi, lo;
        explicit Sums(std::size_t n) : hi(n), lo(n) {}
    };

    std::uint64_t subsets() const { return std::uint64_t{1} << (n_ - 1); }
    int piece_bits() const { return std::clamp(n_ - 1 - run_bits, 0, most_piece_bits); }

    template <class F> static void for_row(const Pattern &p, std::int32_t i, F f) {
        auto k = at(p.row_begin(i));
        for (const std::int32_t j : p.row(i)) f(j, k++);
    }

    static void add(Sums &sums, std::size_t row, double x) {
        const DoubleDouble s = DoubleDouble{sums.hi[row], sums.lo[row]} + x;
        sums.hi[row] = s.hi;
        sums.lo[row] = s.lo;
    }

    void walk(std::uint64_t first, std::uint64_t length, Sums &sums, Partial &partial) const {
        for (std::size_t i = 0; i < at(n_); ++i) {
            sums.hi[i] = start_[i].hi;
            sums.lo[i] = start_[i].lo;
        }
        const std::uint64_t gray = first ^ first >> 1;
        for (std::uint64_t set = gray; set != 0; set &= set - 1) {
            const auto j = static_cast<std::size_t>(std::countr_zero(set));
            for (auto k = at(column_ptr_[j]); k < at(column_ptr_[j + 1]); ++k)
                add(sums, at(row_[k]), value_[k]);
        }
        auto zeros = std::count(sums.hi.begin(), sums.hi.end(), 0.0);
        if (zeros == 0) take(first, sums, partial);
        std::uint64_t set = gray;
        for (std::uint64_t g = first + 1; g < first + length; ++g) {
            const auto j = static_cast<std::size_t>(std::countr_zero(g));
            set ^= std::uint64_t{1} << j;
            const double sign = set >> j & 1 ? 1 : -1;
            for (auto k = at(column_ptr_[j]); k < at(column_ptr_[j + 1]); ++k) {
                const auto i = at(row_[k]);
                zeros -= sums.hi[i] == 0;
                add(sums, i, sign * value_[k]);
                zeros += sums.hi[i] == 0;
            }
            if (zeros == 0) take(g, sums, partial);
        }
    }

    // One term of the sum; (-1)^|S| is the parity of the Gray code's index. Four products side by side, so
    // that the multiplications need not wait for each other.
    void take(std::uint64_t g, const Sums &sums, Partial &partial) const {
        double product[4] = {1, 1, 1, 1};
        const std::size_t n = at(n_);
        std::size_t i = 0;
        for (; i + 4 <= n; i += 4)
            for (std::size_t k = 0; k < 4; ++k) product[k] *= sums.hi[i + k];
        for (; i < n; ++i) product[0] *= sums.hi[i];
        const double term = (product[0] * product[1]) * (product[2] * product[3]);
        partial.sum = partial.sum + (g & 1 ? -term : term);
        partial.absolute += std::fabs(term);
    }

    std::int32_t n_;
    std::vector<DoubleDouble> start_;
    std::vector<std::int64_t> column_ptr_; // CSC in the plan's column order
    std::vector<std::int32_t> row_;
    std::vector<double> value_;
    std::int64_t exp2_ = 0;     // the permanent is the sum times 2^exp2_
    double log2_largest_ = 0;   // of prod_i max |x_i|
    double drifting_rows_ = 0;  // rows whose sums are not exact
    std::int64_t sum_bits_ = 0; // of a product of all row sums, when nothing is rounded
    std::int64_t unit_ = 0;     // it is a multiple of 2^unit_
};

} // namespace

EngineResult ryser_by_subsets(const RyserPlan &plan, const Block &block, RunControl &control) {
    const NijenhuisWilf sum(plan, block);
    return sum.close(add_pieces(sum, sum.pieces(), plan.terms, control), block);
}

} // namespace libperm
