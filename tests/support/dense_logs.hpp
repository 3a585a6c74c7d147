// Small matrices of nonnegative entries, and their logarithms as estimates take them.
#pragma once

#include "bench/families.hpp"
#include "lib/bounds/potential.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

using perm::families::Dense;

inline libperm::LogMatrix log_matrix(const Dense &a) {
    libperm::LogMatrix out;
    out.pattern.rows = out.pattern.cols = static_cast<std::int32_t>(a.size());
    for (const auto &row : a) {
        for (std::size_t j = 0; j < row.size(); ++j)
            if (row[j] > 0) {
                out.pattern.col.push_back(static_cast<std::int32_t>(j));
                out.log.push_back(std::log(row[j]));
            }
        out.pattern.row_ptr.push_back(static_cast<std::int64_t>(out.pattern.col.size()));
    }
    return out;
}

// Entries of sizes far apart or alike, a share of them 0, with a perfect matching.
inline Dense random_dense(std::int64_t n, perm::families::Random &random) {
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    Dense a(at(n), std::vector<double>(at(n), 0.0));
    const std::int64_t zeros = random.integer(0, 7), spread = random.integer(0, 3);
    for (auto &row : a)
        for (double &x : row)
            if (random.integer(0, 9) >= zeros)
                x = std::ldexp(static_cast<double>(random.integer(1, 1000)),
                               static_cast<int>(spread * random.integer(-10, 10)));
    for (std::int64_t i = 0; i < n; ++i) a[at(i)][at((3 * i + 1) % n)] += n % 3 == 0 ? 0.0 : 0.5;
    if (n % 3 == 0)
        for (std::int64_t i = 0; i < n; ++i) a[at(i)][at(i)] += 0.5;
    return a;
}
