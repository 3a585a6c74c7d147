#include "lib/bounds/doubly_stochastic.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>

namespace libperm {
namespace {

constexpr double close_enough = 1e-13; // to 1, of a line's sum

double farthest_from_one(const std::vector<double> &sums) {
    double most = 0;
    for (const double s : sums) most = std::max(most, std::fabs(s - 1));
    return most;
}

// What a line adds up to without one of its entries; of the largest, the sum of the others, without
// cancellation.
struct SumWithout {
    double rest = 0, largest = 0;
    std::size_t which = 0;

    void add(double x, std::size_t k) {
        if (x > largest) {
            rest += largest;
            largest = x;
            which = k;
        } else {
            rest += x;
        }
    }
    double sum() const { return rest + largest; }
    double without(double x, std::size_t k) const { return k == which ? rest : rest - x + largest; }
};

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

int affordable_turns(std::int64_t entries) {
    return static_cast<int>(
        std::clamp(8e6 / static_cast<double>(std::max<std::int64_t>(entries, 1)), 20.0, 400.0));
}

Balanced balanced(const Weights &w) {
    const Pattern &a = w.pattern;
    Balanced s{std::vector<double>(at(a.rows), 1.0), std::vector<double>(at(a.cols), 1.0), w.value};
    std::vector<double> sums;
    const int turns = affordable_turns(a.nnz());
    for (int turn = 0; turn < turns; ++turn) {
        poll();
        sums.assign(at(a.cols), 0.0);
        for_entries(a,
                    [&](std::size_t i, std::size_t j, std::size_t k) { sums[j] += w.value[k] * s.row[i]; });
        for (std::size_t j = 0; j < sums.size(); ++j) s.column[j] = 1 / sums[j];
        sums.assign(at(a.rows), 0.0);
        for_entries(
            a, [&](std::size_t i, std::size_t j, std::size_t k) { sums[i] += w.value[k] * s.column[j]; });
        double moved = 0;
        for (std::size_t i = 0; i < sums.size(); ++i) {
            moved = std::max(moved, std::fabs(sums[i] * s.row[i] - 1));
            s.row[i] = 1 / sums[i];
        }
        if (moved < close_enough) break;
    }
    for_entries(a, [&](std::size_t i, std::size_t j, std::size_t k) {
        s.entry[k] = w.value[k] * s.row[i] * s.column[j];
    });
    return s;
}

// In odds: p_ij of row i for column j, by what column j has from the others, q_ij the other way. Scaled, the
// entries are near the answer, and the messages near 1.
Beliefs beliefs(const Weights &w, const Balanced &start) {
    const Pattern &a = w.pattern;
    const std::size_t n = at(a.rows);
    std::vector<double> p = start.entry, q(p.size());
    std::vector<SumWithout> rows, columns;
    Beliefs out;
    const int turns = affordable_turns(2 * a.nnz());
    for (int turn = 0; turn < turns; ++turn) {
        poll();
        rows.assign(n, {});
        for_entries(a, [&](std::size_t i, std::size_t, std::size_t k) { rows[i].add(p[k], k); });
        std::vector<double> sums(n, 0.0);
        columns.assign(n, {});
        for_entries(a, [&](std::size_t i, std::size_t j, std::size_t k) {
            if (w.value[k] == 0) return;
            sums[j] += p[k] / rows[i].sum();
            q[k] = start.entry[k] / rows[i].without(p[k], k);
            columns[j].add(q[k], k);
        });
        if (turn > 0 && farthest_from_one(sums) < close_enough) break;
        for_entries(a, [&](std::size_t, std::size_t j, std::size_t k) {
            if (w.value[k] > 0) p[k] = start.entry[k] / columns[j].without(q[k], k);
        });
    }
    rows.assign(n, {});
    for_entries(a, [&](std::size_t i, std::size_t, std::size_t k) { rows[i].add(p[k], k); });
    out.entry.resize(p.size());
    for_entries(a, [&](std::size_t i, std::size_t, std::size_t k) { out.entry[k] = p[k] / rows[i].sum(); });
    out.column.resize(n);
    for (std::size_t j = 0; j < n; ++j) out.column[j] = start.column[j] / columns[j].sum();
    return out;
}

// The rows' factors are eliminated: (C - B^T R^-1 B) v = f - B^T R^-1 e, with e and f what rows and columns
// lack.
void correct_sums(const Pattern &a, std::vector<double> &b) {
    const std::size_t n = at(a.rows);
    for (int pass = 0; pass < 2; ++pass) { // the second for what the first has rounded
        std::vector<double> rows(n, 0.0), columns(n, 0.0);
        for_entries(a, [&](std::size_t i, std::size_t j, std::size_t k) {
            rows[i] += b[k];
            columns[j] += b[k];
        });
        if (farthest_from_one(rows) < close_enough && farthest_from_one(columns) < close_enough) return;
        std::vector<double> through(n);
        const auto to_rows = [&](const std::vector<double> &v) { // R^-1 B v
            std::fill(through.begin(), through.end(), 0.0);
            for_entries(a, [&](std::size_t i, std::size_t j, std::size_t k) { through[i] += b[k] * v[j]; });
            for (std::size_t i = 0; i < n; ++i) through[i] /= rows[i];
        };
        std::vector<double> v(n, 0.0), residual(n), direction(n), image(n);
        for (std::size_t i = 0; i < n; ++i) through[i] = (1 - rows[i]) / rows[i];
        for (std::size_t j = 0; j < n; ++j) residual[j] = 1 - columns[j];
        for_entries(a,
                    [&](std::size_t i, std::size_t j, std::size_t k) { residual[j] -= b[k] * through[i]; });
        double before = 0;
        const int turns = affordable_turns(a.nnz());
        for (int turn = 0; turn < turns; ++turn) {
            poll();
            double norm = 0;
            for (std::size_t j = 0; j < n; ++j) norm += residual[j] * residual[j] / columns[j];
            if (!(norm > 1e-32)) break;
            const double keep = turn == 0 ? 0 : norm / before;
            for (std::size_t j = 0; j < n; ++j) direction[j] = residual[j] / columns[j] + keep * direction[j];
            to_rows(direction);
            for (std::size_t j = 0; j < n; ++j) image[j] = columns[j] * direction[j];
            for_entries(a,
                        [&](std::size_t i, std::size_t j, std::size_t k) { image[j] -= b[k] * through[i]; });
            double curvature = 0;
            for (std::size_t j = 0; j < n; ++j) curvature += direction[j] * image[j];
            if (!(curvature > 0)) break;
            for (std::size_t j = 0; j < n; ++j) {
                v[j] += norm / curvature * direction[j];
                residual[j] -= norm / curvature * image[j];
            }
            before = norm;
        }
        to_rows(v);
        for_entries(a, [&](std::size_t i, std::size_t j, std::size_t k) {
            const double u = (1 - rows[i]) / rows[i] - through[i];
            b[k] = std::max(0.0, b[k] * (1 + u + v[j]));
        });
    }
}

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
