#include "lib/structure/find_structure.hpp"

#include "jit/text/text.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/structure/find_background.hpp"
#include "lib/structure/integers.hpp"
#include "lib/structure/separable/generators.hpp"
#include "lib/structure/separable/orders.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace libperm {
namespace {

// A low rank, exactly; and rank one up to rounding.

// As many rows and columns as the rank modulo the probe's prime, of rows of so many residues; none: it is not
// low.
std::optional<LowRank> low_rank_modulo(std::span<const std::uint64_t> residues, std::int32_t n) {
    PolledSteps steps;
    Echelon basis(probe_prime());
    LowRank found;
    std::vector<std::uint64_t> row(at(n));
    for (std::int32_t i = 0; i < std::ssize(residues) / n; ++i) {
        steps.take(4 * most_rank * n);
        std::ranges::copy(residues.subspan(at(i) * row.size(), row.size()), row.begin());
        const std::size_t last = basis.reduce(row, 0, [](std::size_t, std::uint64_t) {});
        if (last == Echelon::nowhere) continue;
        if (!basis.add(row, last, at(most_rank))) return {};
        found.rows.push_back(i);
        found.cols.push_back(static_cast<std::int32_t>(last));
    }
    std::ranges::sort(found.cols);
    return found;
}

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

// Rows that are spread over the block.
std::vector<std::int32_t> some_rows(std::int32_t n, std::int32_t count, std::int32_t shift = 0) {
    std::vector<std::int32_t> rows;
    for (std::int64_t k = 0; k < count; ++k)
        rows.push_back(static_cast<std::int32_t>((k * n + shift) / count));
    return rows;
}

// By a few rows and columns.
template <class Value> bool may_have_low_rank(const BlockOf<Value> &block) {
    constexpr std::int32_t looked_at = most_rank + 2;
    const std::int32_t n = block.n();
    if (n < 2 * looked_at) return false;
    const std::vector<std::uint64_t> rows = probe_rows(block, some_rows(n, looked_at, n / 2));
    std::vector<std::uint64_t> minor;
    for (std::int32_t i = 0; i < looked_at; ++i)
        for (const std::int32_t j : some_rows(n, looked_at, n / 3)) minor.push_back(rows[at(i * n + j)]);
    return low_rank_modulo(minor, looked_at).has_value();
}

template <class Value>
LowRank find_low_rank(const BlockOf<Value> &block, const std::vector<std::uint64_t> &residues) {
    const std::int32_t n = block.n();
    std::optional<LowRank> found = low_rank_modulo(residues, n);
    if (!found) return {};
    const auto largest = largest_integer(block);
    if (largest && is_proved(*largest, static_cast<std::int32_t>(found->rows.size()))) return *found;
    const ExactBlock &exact = exact_block(block);
    const ExactBasis in_full(exact, *found);
    if (!in_full.is_valid()) return {};
    for (std::int32_t i = 0; i < n; ++i) {
        poll();
        if (!in_full.has(exact, i)) return {};
    }
    return *found;
}

// Whether two of six rows, of four classes at most, are alike, most likely.
template <class Value> bool may_have_background(const BlockOf<Value> &block) {
    return has_alike_rows(probe_rows(block, some_rows(block.n(), 6)), block.n());
}

// Ferrers boards: the columns of each row are among those of the next, and the entries u_i v_j.

// Whether each is the entry of the full row there times its row's first entry, by that of the full row.
bool is_product_of_lines(const ExactBlock &block, std::int32_t full, PolledSteps &steps) {
    const std::int64_t base = block.pattern.row_begin(full); // its entry of column j is the j-th
    for (std::int32_t i = 0; i < block.n(); ++i) {
        std::int64_t k = block.pattern.row_begin(i);
        const auto row = block.pattern.row(i);
        const Gaussian &first = block.values[at(k)], &above = block.values[at(base + row.front())];
        if (is_zero(above) || is_zero(first)) return false;
        for (const std::int32_t j : row) {
            steps.take(32);
            if (!(block.values[at(k++)] * above == block.values[at(base + j)] * first)) return false;
        }
    }
    return true;
}

// By its lengths, in no time.
bool may_be_nested(const Pattern &a) {
    if (a.nnz() == std::int64_t{a.rows} * a.rows) return false; // equal lines
    bool some_full = false;
    for (std::int32_t i = 0; i < a.rows && !some_full; ++i) some_full = std::ssize(a.row(i)) == a.cols;
    return some_full;
}

template <class Value> std::vector<std::int32_t> find_nested(const BlockOf<Value> &block) {
    const Pattern &a = block.pattern;
    PolledSteps steps;
    std::vector<std::int32_t> rows(at(a.rows));
    std::iota(rows.begin(), rows.end(), 0);
    std::stable_sort(rows.begin(), rows.end(),
                     [&](std::int32_t i, std::int32_t j) { return a.row(i).size() < a.row(j).size(); });
    for (std::size_t k = 0; k + 1 < rows.size(); ++k) {
        const auto row = a.row(rows[k]), next = a.row(rows[k + 1]);
        steps.take(std::ssize(next));
        if (row.empty() || !std::includes(next.begin(), next.end(), row.begin(), row.end())) return {};
    }
    const bool is_product = is_product_of_lines(exact_block(block), rows.back(), steps);
    return is_product ? rows : std::vector<std::int32_t>();
}

constexpr std::int32_t least_order = 12;
constexpr std::int32_t least_separable = 24;  // below, looking for it takes a share of what the block takes
constexpr std::int32_t most_separable = 2000; // beyond, a walk takes hours

bool is_looked_at(const Pattern &a) {
    return a.rows >= least_order && 2 * a.nnz() >= std::int64_t{a.rows} * a.rows;
}

Separable find_separable(std::vector<std::uint64_t> residues, std::size_t n) {
    const auto shape = separable_shape({n, probe_prime(), std::move(residues)});
    return shape ? Separable{shape->order, shape->above, shape->below, shape->band} : Separable();
}

std::string in_words(const Separable &x) {
    if (x.band.is_none())
        return formatted("values: along a staircase through the matrix of rank {} above and {} below",
                         x.above, x.below);
    return formatted("values: of rank {} above and {} below a band, the diagonals {} to {}", x.above, x.below,
                     -static_cast<int>(x.band.below), x.band.above);
}

std::string in_words(const Background &x) {
    const std::int64_t n = x.beside.rows;
    const std::size_t p = x.base_rows.size(), q = x.base_cols.size();
    const std::string classes =
        p * q == 1 ? "" : formatted(" c_ab, with {} classes a of rows and {} classes b of columns,", p, q);
    return formatted("values: u_i v_j{} but for {} of {} places", classes, x.beside.nnz(), n * n);
}

// With so few entries beside it that nothing else can be cheaper.
bool is_background_light(const Background &b, std::int32_t n) {
    return b.beside.rows > 0 && b.base_rows.size() == 1 && b.base_cols.size() == 1 &&
           b.beside.nnz() <= 2 * std::int64_t{n};
}

} // namespace

double distance_from_rank_one(const Block &block, double most) {
    const std::size_t n = at(block.n());
    if (block.pattern.nnz() != std::int64_t{block.n()} * block.n()) return infinity;
    const std::vector<Tracked> &a = block.values;
    if (a[0].value <= 0) return infinity;
    PolledSteps steps;
    double distance = 0;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n && distance <= most; ++j) {
            steps.take(2);
            const Tracked &x = a[i * n + j], &u = a[i * n], &v = a[j];
            if (x.value <= 0 || u.value <= 0 || v.value <= 0) return infinity;
            const std::int64_t exponent =
                std::clamp<std::int64_t>(x.exp2 + a[0].exp2 - u.exp2 - v.exp2, -2000, 2000);
            const double there = u.value * v.value,
                         here = std::ldexp(x.value * a[0].value, static_cast<int>(exponent));
            distance = std::max(distance, std::fabs(here - there) / there);
        }
    return distance;
}

std::vector<std::string> in_words(const Structure &x, const Pattern &a) {
    if (!is_looked_at(a)) return {};
    std::vector<std::string> lines;
    if (x.has_background()) lines.push_back(in_words(x.background));
    if (!x.low_rank.rows.empty()) lines.push_back(formatted("values: of rank {}", x.low_rank.rows.size()));
    if (x.nearly_rank_one) lines.emplace_back("values: of rank one up to rounding");
    if (x.is_separable()) lines.push_back(in_words(x.separable));
    if (!x.nested.empty()) lines.emplace_back("values: u_i v_j in nested rows");
    if (lines.empty())
        lines.emplace_back(
            "values: not u_i v_j at most places, of no rank below 7, not of nested rows, and of no low "
            "ranks beside the diagonal, as far as was looked");
    return lines;
}

template <class Value> Structure structure_of(const BlockOf<Value> &block, MemoryAccount *account) {
    Structure found;
    const std::int32_t n = block.n();
    found.integers = find_integers(block);
    if (!is_looked_at(block.pattern)) return found;
    if (may_be_nested(block.pattern)) {
        const Charge charge(account, bytes_made_exact(block));
        found.nested = find_nested(block);
    }
    if (!found.nested.empty()) return found;
    const bool low = may_have_low_rank(block), beside = may_have_background(block);
    const bool may_be_separable = least_separable <= n && n <= most_separable;
    if (low || beside || may_be_separable) {
        constexpr std::int64_t of_an_entry = 8;
        const Charge charge(account, of_an_entry * n * n + (low || beside ? bytes_made_exact(block) : 0));
        std::vector<std::uint64_t> residues = probe_rows(block, some_rows(n, n));
        if (low) found.low_rank = find_low_rank(block, residues);
        if (beside) found.background = find_background(block, residues);
        if (may_be_separable && found.low_rank.rows.empty() && !is_background_light(found.background, n))
            found.separable = find_separable(std::move(residues), at(n));
    }
    if constexpr (std::is_same_v<Value, Tracked>)
        found.nearly_rank_one =
            found.low_rank.rows.size() != 1 && distance_from_rank_one(block, 0x1p-40) <= 0x1p-40;
    return found;
}

template Structure structure_of(const Block &block, MemoryAccount *account);
template Structure structure_of(const ExactBlock &block, MemoryAccount *account);

} // namespace libperm
