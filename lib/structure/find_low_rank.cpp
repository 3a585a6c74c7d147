#include "lib/structure/find_low_rank.hpp"

#include "lib/number/wide_value.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

namespace libperm {
namespace {

// Rows reduced by those before, modulo the probe's prime, until there are too many.
class ModularBasis {
  public:
    explicit ModularBasis(const Montgomery &field) : field_(field) {}

    // Takes it in, unless it depends on those that are in. False: the rank is not low.
    bool take(std::int32_t number, std::vector<std::uint64_t> row) {
        for (const Pivot &pivot : pivots_) {
            const std::uint64_t x = row[at(pivot.col)];
            if (x == 0) continue;
            for (std::size_t j = 0; j < row.size(); ++j)
                row[j] = field_.subtract(row[j], field_.multiply(pivot.reduced[j], x));
        }
        const auto place = std::find_if(row.begin(), row.end(), [](std::uint64_t x) { return x != 0; });
        if (place == row.end()) return true;
        if (std::ssize(pivots_) == most_rank) return false;
        const std::uint64_t inverse = field_.power(*place, field_.prime() - 2);
        const auto col = static_cast<std::int32_t>(place - row.begin());
        for (std::uint64_t &x : row) x = field_.multiply(x, inverse);
        pivots_.push_back({number, col, std::move(row)});
        return true;
    }

    LowRank found() const {
        LowRank found;
        for (const Pivot &pivot : pivots_) {
            found.rows.push_back(pivot.row);
            found.cols.push_back(pivot.col);
        }
        std::sort(found.cols.begin(), found.cols.end());
        return found;
    }

  private:
    struct Pivot {
        std::int32_t row, col;
        std::vector<std::uint64_t> reduced; // 1 at the column, in Montgomery's form
    };

    const Montgomery &field_;
    std::vector<Pivot> pivots_;
};

// The largest absolute value, if all entries are real whole numbers.
std::optional<double> largest_integer(const Block &block) {
    double most = 0;
    for (const Tracked &x : block.values) {
        if (x.exp2 > 60) return {};
        const double value = std::ldexp(x.value, static_cast<int>(std::max<std::int64_t>(x.exp2, -1100)));
        if (value != std::nearbyint(value)) return {};
        most = std::max(most, std::fabs(value));
    }
    return most;
}
std::optional<double> largest_integer(const ExactBlock &block) {
    double most = 0;
    for (const Gaussian &x : block.values) {
        if (!is_integer(x) || !is_real(x)) return {};
        most = std::max(most, std::fabs(x.re.get_d()));
    }
    return most;
}

// Minors of order r + 1 that are 0 modulo the probe's prime are 0 if they are shorter.
bool is_proved(double largest, std::int32_t rank) {
    return std::lgamma(rank + 2) + (rank + 1) * std::log(largest + 1) < 60 * std::log(2.0);
}

// Whether each row is what its entries in the columns say, in exact numbers.
class ExactBasis {
  public:
    ExactBasis(const ExactBlock &block, const LowRank &of) : n_(block.n()), of_(of) {
        for (const std::int32_t i : of.rows) rows_.push_back(row_of(block, i));
        const std::size_t rank = of.rows.size();
        for (std::size_t t = 0; t < rank; ++t) { // Gauss and Jordan, so that the columns are those of 1
            std::size_t pivot = t;
            while (pivot < rank && is_zero(rows_[pivot][at(of.cols[t])])) ++pivot;
            if (pivot == rank) return;
            std::swap(rows_[t], rows_[pivot]);
            const Gaussian by = rows_[t][at(of.cols[t])];
            for (Gaussian &x : rows_[t]) x = x / by;
            for (std::size_t other = 0; other < rank; ++other)
                if (other != t) subtract(rows_[other], rows_[other][at(of.cols[t])], rows_[t]);
        }
        is_valid_ = true;
    }

    bool has(const ExactBlock &block, std::int32_t i) const {
        std::vector<Gaussian> row = row_of(block, i);
        for (std::size_t t = 0; t < rows_.size(); ++t) subtract(row, row[at(of_.cols[t])], rows_[t]);
        return std::all_of(row.begin(), row.end(), [](const Gaussian &x) { return is_zero(x); });
    }
    bool is_valid() const { return is_valid_; }

  private:
    std::vector<Gaussian> row_of(const ExactBlock &block, std::int32_t i) const {
        std::vector<Gaussian> row(at(n_));
        std::int64_t k = block.pattern.row_begin(i);
        for (const std::int32_t j : block.pattern.row(i)) row[at(j)] = block.values[at(k++)];
        return row;
    }
    static void subtract(std::vector<Gaussian> &row, const Gaussian &by, const std::vector<Gaussian> &other) {
        if (is_zero(by)) return;
        const Gaussian minus{-by.re, -by.im};
        for (std::size_t j = 0; j < row.size(); ++j)
            if (!is_zero(other[j])) row[j] = row[j] + minus * other[j];
    }

    std::int32_t n_;
    const LowRank &of_;
    std::vector<std::vector<Gaussian>> rows_;
    bool is_valid_ = false;
};

} // namespace

template <class Value> bool may_have_low_rank(const Probe<Value> &probe) {
    constexpr std::int32_t looked_at = most_rank + 2;
    const std::int32_t n = probe.n();
    if (n < 2 * looked_at) return false;
    ModularBasis basis(probe.field());
    for (std::int32_t i = 0; i < looked_at; ++i) {
        std::vector<std::uint64_t> row;
        for (std::int32_t j = 0; j < looked_at; ++j)
            row.push_back(probe.entry((i * n + n / 2) / looked_at, (j * n + n / 3) / looked_at));
        if (!basis.take(i, std::move(row))) return false;
    }
    return true;
}

template <class Value>
LowRank find_low_rank(const BlockOf<Value> &block, const Probe<Value> &probe,
                      const std::vector<std::uint64_t> &residues, const Poll &poll) {
    const std::int32_t n = block.n();
    PolledSteps steps(poll);
    ModularBasis basis(probe.field());
    for (std::int32_t i = 0; i < n; ++i) {
        steps.take(4 * most_rank * n);
        const auto row = std::span(residues).subspan(at(i) * at(n), at(n));
        if (!basis.take(i, {row.begin(), row.end()})) return {};
    }
    LowRank found = basis.found();
    const auto largest = largest_integer(block);
    if (largest && is_proved(*largest, static_cast<std::int32_t>(found.rows.size()))) return found;
    const ExactBlock &exact = exact_block(block);
    const ExactBasis in_full(exact, found);
    if (!in_full.is_valid()) return {};
    for (std::int32_t i = 0; i < n; ++i) {
        poll();
        if (!in_full.has(exact, i)) return {};
    }
    return found;
}

bool is_nearly_rank_one(const Block &block, const Poll &poll) {
    const std::int32_t n = block.n();
    if (block.pattern.nnz() != std::int64_t{n} * n) return false;
    const std::vector<Tracked> &a = block.values;
    if (a[0].value <= 0) return false;
    PolledSteps steps(poll);
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j) {
            steps.take(2);
            const Tracked &x = a[at(i) * at(n) + at(j)], &u = a[at(i) * at(n)], &v = a[at(j)];
            if (x.value <= 0 || u.value <= 0 || v.value <= 0) return false;
            const double here = x.value * a[0].value, there = u.value * v.value;
            const std::int64_t exponent = x.exp2 + a[0].exp2 - u.exp2 - v.exp2;
            if (std::abs(exponent) > 2) return false;
            if (std::fabs(std::ldexp(here, static_cast<int>(exponent)) - there) > 0x1p-40 * there)
                return false;
        }
    return true;
}

template bool may_have_low_rank(const Probe<Tracked> &probe);
template bool may_have_low_rank(const Probe<Gaussian> &probe);
template LowRank find_low_rank(const Block &block, const Probe<Tracked> &probe,
                               const std::vector<std::uint64_t> &residues, const Poll &poll);
template LowRank find_low_rank(const ExactBlock &block, const Probe<Gaussian> &probe,
                               const std::vector<std::uint64_t> &residues, const Poll &poll);

} // namespace libperm
