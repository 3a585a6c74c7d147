#include "lib/ryser.hpp"

#include "lib/bits.hpp"
#include "lib/cost_model.hpp"
#include "lib/ryser_counted.hpp"
#include "lib/ryser_sum.hpp"
#include "lib/scaled_rows.hpp"
#include "preprocess/permanent_bound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace libperm {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

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

    void close(const Partial &total, const Block &block, Outcome &outcome) const {
        const double factor = n_ % 2 ? 2 : -2;
        const DoubleDouble sum = total.sum;
        const double value = factor * (sum.hi + sum.lo);
        outcome.subsets = static_cast<double>(subsets());
        // Products of whole numbers that fit a double, and sums of them that fit two, round nowhere.
        if (sum_bits_ <= 53 && n_ - 1 + sum_bits_ <= 104 && unit_ > -1000 && sum.lo == 0) {
            set_value_from(block, outcome, value, 0, exp2_);
            return;
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
        set_value_from(block, outcome, value, 2 * (relative + drift + underflow), exp2_);
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

double updates_per_subset(const Pattern &at_, const std::vector<std::int32_t> &columns) {
    double updates = 0;
    for (std::size_t k = 0; k + 1 < columns.size(); ++k)
        updates += std::ldexp(static_cast<double>(at_.row(columns[k]).size()),
                              -static_cast<int>(std::min<std::size_t>(k + 1, 1000)));
    return updates;
}

// `lowest`: of the lines equal to each; none if all are different.
std::vector<EqualLines> kinds_of(const std::vector<std::int32_t> &lowest, std::int32_t n) {
    std::vector<std::int32_t> count(at(n), lowest.empty() ? 1 : 0);
    for (const std::int32_t line : lowest) ++count[at(line)];
    std::vector<EqualLines> kinds;
    for (std::int32_t line = 0; line < n; ++line)
        if (count[at(line)] > 0) kinds.push_back({line, count[at(line)]});
    return kinds;
}

bool some_repeat(const std::vector<std::int32_t> &lowest) {
    for (std::size_t i = 0; i < lowest.size(); ++i)
        if (at(lowest[i]) != i) return true;
    return false;
}

bool all_are_magnitudes(const Block &block) {
    return std::all_of(block.values.begin(), block.values.end(),
                       [](const Tracked &x) { return x.value == x.magnitude; });
}

} // namespace

RyserPlan plan_ryser_by_subsets(const Pattern &a, const Pattern &at_, bool transposed) {
    const Pattern &columns_of = transposed ? a : at_; // its rows are the columns of what is summed
    RyserPlan plan;
    plan.transposed = transposed;
    plan.terms = std::exp2(columns_of.rows - 1.0);
    plan.columns.resize(at(columns_of.rows));
    std::iota(plan.columns.begin(), plan.columns.end(), 0);
    std::stable_sort(plan.columns.begin(), plan.columns.end(), [&](std::int32_t x, std::int32_t y) {
        return columns_of.row(x).size() < columns_of.row(y).size();
    });
    plan.updates_per_subset = updates_per_subset(columns_of, plan.columns);
    return plan;
}

RyserPlan plan_ryser_by_counts(const Pattern &a, const Pattern &at_, const Kinds &kinds, bool transposed) {
    const Pattern &columns_of = transposed ? a : at_;
    RyserPlan plan;
    plan.transposed = transposed;
    plan.row_kinds = kinds_of(transposed ? kinds.of_col : kinds.of_row, a.rows);
    plan.column_kinds = kinds_of(transposed ? kinds.of_row : kinds.of_col, a.rows);
    std::vector<char> is_row(at(a.rows), 0); // or equal to a lower one
    for (const EqualLines &r : plan.row_kinds) is_row[at(r.line)] = 1;
    std::vector<std::size_t> degrees(at(a.rows), 0);
    for (std::int32_t j = 0; j < a.rows; ++j)
        for (const std::int32_t i : columns_of.row(j)) degrees[at(j)] += is_row[at(i)] ? 1 : 0;
    std::stable_sort(
        plan.column_kinds.begin(), plan.column_kinds.end(),
        [&](const EqualLines &x, const EqualLines &y) { return degrees[at(x.line)] < degrees[at(y.line)]; });
    // m + 1 counts of a kind become m: that saves the most where m is least; the last of such kinds.
    const auto left_out =
        std::min_element(plan.column_kinds.rbegin(), plan.column_kinds.rend(),
                         [](const EqualLines &x, const EqualLines &y) { return x.count < y.count; });
    plan.last_column = left_out->line;
    if (--left_out->count == 0) plan.column_kinds.erase(std::next(left_out).base());
    double rest = 1; // the share of the steps that change no earlier column
    for (const EqualLines &c : plan.column_kinds) {
        plan.terms *= c.count + 1.0;
        const double next = rest / (c.count + 1.0);
        plan.updates_per_subset += static_cast<double>(degrees[at(c.line)]) * (rest - next);
        rest = next;
    }
    return plan;
}

RyserPlan plan_ryser(const Pattern &a, const Pattern &at_, const Kinds &kinds) {
    RyserPlan best = plan_ryser_by_subsets(a, at_, false);
    RyserPlan other = plan_ryser_by_subsets(a, at_, true);
    if (other.updates_per_subset < best.updates_per_subset) best = std::move(other);
    if (!some_repeat(kinds.of_row) && !some_repeat(kinds.of_col)) return best;
    // Counts are summed in twice the precision. That is worth a moment.
    double seconds = ryser_cost(best, a.rows).serial_seconds + 1e-3;
    for (const bool transposed : {false, true}) {
        RyserPlan plan = plan_ryser_by_counts(a, at_, kinds, transposed);
        const double own = ryser_cost(plan, a.rows).serial_seconds;
        if (own >= seconds) continue;
        seconds = own;
        best = std::move(plan);
    }
    return best;
}

void set_value_from(const Block &block, Outcome &outcome, double value, double error, std::int64_t exp2) {
    const double roundings = most_roundings(block);
    const double gamma = gamma_bound(roundings);
    const double share = gamma < 0.5 ? gamma / (1 - gamma) : std::numeric_limits<double>::infinity();
    if (roundings > 0 && all_are_magnitudes(block)) { // perm(M) is what has been computed
        error = (error + share * (std::fabs(value) + error)) * (1 + 0x1p-40);
    } else if (roundings > 0) {
        // |perm(A) - perm(values)| <= gamma perm(M), and (1 - gamma) M is at most the magnitudes, for a
        // product with gamma of all its roundings (preprocess/tracked.hpp).
        const PermanentBound most = permanent_bound(block);
        // The values alone may be far smaller: all of it in a unit that holds both.
        const std::int64_t shift = std::max<std::int64_t>(0, most.exp2 - exp2 - 500);
        const int down = ldexp_exponent(-shift);
        value = std::ldexp(value, down);
        error =
            std::ldexp(error, down) + 0x1p-1070 + // for what underflows here
            share * std::max(0x1p-1070, std::ldexp(most.mantissa, ldexp_exponent(most.exp2 - exp2 - shift)));
        error *= 1 + 0x1p-40;
        exp2 += shift;
    }
    set_value(outcome, value, error, exp2);
}

Outcome run_ryser(const RyserPlan &plan, const Block &block, RunControl &control) {
    Outcome outcome;
    if (plan.counted()) {
        outcome = run_ryser_by_counts(plan, block, control);
    } else {
        const NijenhuisWilf sum(plan, block);
        sum.close(add_pieces(sum, sum.pieces(), plan.terms, control), block, outcome);
    }
    outcome.operations = ryser_cost(plan, block.n()).operations;
    return outcome;
}

} // namespace libperm
