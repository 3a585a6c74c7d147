#include "lib/bounds/lower_bounds.hpp"

#include "lib/bounds/magnitudes.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>

namespace libperm {
namespace {

struct Edge {
    std::size_t row, column, entry; // column: behind the rows
};

// Kruskal's, with the entries in order of their binary exponents alone.
class SpanningForest {
  public:
    SpanningForest(const Pattern &a, const std::vector<std::int64_t> &units)
        : parent_(at(a.rows) + at(a.cols)), edges_(parent_.size()) {
        std::iota(parent_.begin(), parent_.end(), std::size_t{0});
        std::array<std::vector<Edge>, 52> by_size;
        std::size_t k = 0;
        for (std::int32_t i = 0; i < a.rows; ++i)
            for (const std::int32_t j : a.row(i)) {
                if (units[k] > 0)
                    by_size[std::min<std::size_t>(51,
                                                  at(std::bit_width(static_cast<std::uint64_t>(units[k]))))]
                        .push_back({at(i), at(a.rows) + at(j), k});
                ++k;
            }
        for (std::size_t size = by_size.size(); size-- > 0;)
            for (const Edge &e : by_size[size]) {
                const std::size_t x = root(e.row), y = root(e.column);
                if (x == y) continue;
                parent_[x] = y;
                edges_[e.row].push_back(e);
                edges_[e.column].push_back(e);
            }
    }
    const std::vector<Edge> &of(std::size_t line) const { return edges_[line]; }

  private:
    std::size_t root(std::size_t x) {
        while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
        return x;
    }
    std::vector<std::size_t> parent_;
    std::vector<std::vector<Edge>> edges_;
};

} // namespace

std::optional<DoublyStochastic> DoublyStochastic::near(const Pattern &a, const std::vector<double> &b) {
    DoublyStochastic out;
    out.units_.reserve(b.size());
    std::vector<std::int64_t> lacks(at(a.rows) + at(a.cols), one); // what each line does, to 1
    std::size_t k = 0;
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (const std::int32_t j : a.row(i)) {
            const double x = b[k++];
            if (!(x >= 0 && x < 2)) return {};
            out.units_.push_back(x == 0 ? 0 : std::max<std::int64_t>(1, std::llround(x * 0x1p50)));
            lacks[at(i)] -= out.units_.back();
            lacks[at(a.rows) + at(j)] -= out.units_.back();
        }
    double all = 0; // nothing may overflow on the way
    for (const std::int64_t x : lacks) all += std::fabs(static_cast<double>(x));
    if (all > 0x1p61) return {};

    const SpanningForest forest(a, out.units_);
    std::vector<std::size_t> left(lacks.size()); // edges that are not settled
    std::vector<std::size_t> leaves;
    for (std::size_t line = 0; line < lacks.size(); ++line) {
        left[line] = forest.of(line).size();
        if (left[line] == 0 && lacks[line] != 0) return {};
        if (left[line] == 1) leaves.push_back(line);
    }
    std::vector<bool> is_settled(b.size(), false);
    while (!leaves.empty()) {
        const std::size_t line = leaves.back();
        leaves.pop_back();
        if (left[line] == 0) { // the last of its tree
            if (lacks[line] != 0) return {};
            continue;
        }
        for (const Edge &e : forest.of(line)) {
            if (is_settled[e.entry]) continue;
            is_settled[e.entry] = true;
            out.units_[e.entry] += lacks[line];
            if (out.units_[e.entry] < 0) return {};
            const std::size_t other = e.row == line ? e.column : e.row;
            lacks[other] -= lacks[line];
            lacks[line] = 0;
            --left[line];
            if (--left[other] <= 1) leaves.push_back(other);
        }
    }
    return out;
}

DoublyStochastic DoublyStochastic::of_matching(const Pattern &a,
                                               const std::vector<std::int32_t> &col_of_row) {
    DoublyStochastic out;
    out.units_.reserve(at(a.nnz()));
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (const std::int32_t j : a.row(i)) out.units_.push_back(col_of_row[at(i)] == j ? one : 0);
    return out;
}

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// prod (a / b)^b. False where it is 0.
bool add_capacity(const Magnitudes &m, const DoublyStochastic &b, LogSum &sum) {
    for (std::size_t k = 0; k < m.lower.size(); ++k) {
        if (b[k] == 0) continue;
        if (m.lower[k] == 0) return false;
        sum.add_log2(m.lower[k] / b[k], b[k], 0x1p-53);
    }
    return true;
}

// sum_j log2 g(min(j, d_j)).
void add_degrees(std::vector<double> degrees, LogSum &sum) {
    std::sort(degrees.begin(), degrees.end(), std::greater<>());
    double place = 0;
    for (const double degree : degrees) {
        const double k = std::min(++place, degree);
        if (k < 2) continue;
        const double term = (k - 1) * std::log1p(-1 / k) * std::numbers::log2e;
        sum.add(term, 0x1p-49 * std::fabs(term));
    }
}

} // namespace

double bethe_below(const Magnitudes &m, const DoublyStochastic &b) {
    LogSum sum;
    if (!add_capacity(m, b, sum)) return minus_infinity;
    for (std::size_t k = 0; k < m.lower.size(); ++k)
        if (b[k] > 0 && b[k] < 1) sum.add_log2(1 - b[k], 1 - b[k]); // which is a double
    return sum.below();
}

double gurvits_below(const Magnitudes &m, const DoublyStochastic &b) {
    LogSum capacity;
    if (!add_capacity(m, b, capacity)) return minus_infinity;
    std::vector<double> rows(static_cast<std::size_t>(m.n()), 0.0), columns(rows);
    std::size_t k = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (const std::int32_t j : m.pattern.row(static_cast<std::int32_t>(i)))
            if (m.lower[k++] > 0) {
                ++rows[i];
                ++columns[static_cast<std::size_t>(j)];
            }
    LogSum by_rows = capacity, by_columns = capacity;
    add_degrees(std::move(rows), by_rows);
    add_degrees(std::move(columns), by_columns);
    return std::max(by_rows.below(), by_columns.below());
}

} // namespace libperm
