// Matrices with lines that all others cross, which reductions take apart to the end.
#pragma once

#include "bench/families.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace hubs {

using Value = std::function<double()>;

// Rows of pairs of a column and its value, in any order; of a place that is told twice the first counts.
using Rows = std::vector<std::vector<std::pair<std::int64_t, double>>>;

inline perm::Csr matrix_of(Rows rows) {
    perm::Csr a;
    a.n_rows = a.n_cols = static_cast<std::int64_t>(rows.size());
    for (auto &row : rows) {
        std::stable_sort(row.begin(), row.end(),
                         [](const auto &x, const auto &y) { return x.first < y.first; });
        for (std::size_t k = 0; k < row.size(); ++k) {
            if (k > 0 && row[k].first == row[k - 1].first) continue;
            a.col_idx.push_back(row[k].first);
            a.values.push_back(row[k].second);
        }
        a.row_ptr.push_back(static_cast<std::int64_t>(a.col_idx.size()));
    }
    return a;
}

inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// A diagonal, `count` full rows, and in every other row an entry in one of the first `count` columns.
inline perm::Csr attached(std::int64_t n, std::int64_t count, const Value &value) {
    Rows rows(at(n));
    for (std::int64_t i = 0; i < n; ++i) {
        rows[at(i)].emplace_back(i, value());
        if (i >= count) rows[at(i)].emplace_back(i % count, value());
        for (std::int64_t j = 0; i < count && j < n; ++j) rows[at(i)].emplace_back(j, value());
    }
    return matrix_of(std::move(rows));
}

// The diagonal, the first row and the first column.
inline perm::Csr arrow(std::int64_t n, const Value &value) { return attached(n, 1, value); }

// A diagonal, and the edges of a tree both ways: a star, or a path of which every vertex has a leaf.
inline perm::Csr star(std::int64_t n, const Value &value) { return arrow(n, value); }
inline perm::Csr caterpillar(std::int64_t n, const Value &value) {
    Rows rows(at(n));
    const auto join = [&](std::int64_t i, std::int64_t j) {
        rows[at(i)].emplace_back(j, value());
        rows[at(j)].emplace_back(i, value());
    };
    for (std::int64_t i = 0; i < n; ++i) rows[at(i)].emplace_back(i, value());
    for (std::int64_t i = 0; i + 2 < n; i += 2) join(i, i + 2);
    for (std::int64_t i = 0; i + 1 < n; i += 2) join(i, i + 1);
    return matrix_of(std::move(rows));
}

// The diagonal, the one below it, and above it in every row `above` entries that reach further and further.
inline perm::Csr hessenberg(std::int64_t n, std::int64_t above, const Value &value) {
    Rows rows(at(n));
    for (std::int64_t i = 0; i < n; ++i) {
        if (i > 0) rows[at(i)].emplace_back(i - 1, value());
        rows[at(i)].emplace_back(i, value());
        std::int64_t reach = 1;
        for (std::int64_t k = 0; k < above && i + reach<n; ++k, reach += above> n ? 1 : 1 + reach)
            rows[at(i)].emplace_back(i + reach, value());
    }
    return matrix_of(std::move(rows));
}

} // namespace hubs
