#include "lib/bounds/balance.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

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

} // namespace libperm
