// Hafnians by their definition: over the sets of lines that are left.
#pragma once

#include "tests/support/gaussian_calls.hpp"
#include "tests/support/matchings.hpp"

#include <map>

namespace oracle {

// Of the lines as often as they count: two copies of one are matched by its entry on the diagonal, and a line
// stays single at the price of its weight; has_loops: of that entry, where there are no weights.
inline Gaussian over_pairs(const MatchingMatrix &a, bool has_loops) {
    std::vector<std::size_t> line;
    for (std::size_t i = 0; i < a.entries.size(); ++i)
        line.insert(line.end(), a.row_times.empty() ? 1 : static_cast<std::size_t>(a.row_times[i]), i);
    std::map<std::uint64_t, Gaussian> known{{0, real_number(1)}};
    const auto over = [&](const auto &self, std::uint64_t left) -> Gaussian {
        if (const auto found = known.find(left); found != known.end()) return found->second;
        const auto first = static_cast<std::size_t>(std::countr_zero(left));
        const std::uint64_t rest = left & (left - 1);
        Gaussian sum{0, 0};
        const auto add = [&](const Gaussian &x, std::uint64_t others) {
            if (is_zero(x)) return;
            const Gaussian y = self(self, others);
            sum.re += x.re * y.re - x.im * y.im;
            sum.im += x.re * y.im + x.im * y.re;
        };
        if (a.row_weights)
            add((*a.row_weights)[line[first]], rest);
        else if (has_loops)
            add(a.entries[line[first]][line[first]], rest);
        for (std::size_t other = first + 1; other < line.size(); ++other)
            if (left >> other & 1)
                add(a.entries[line[first]][line[other]], rest & ~(std::uint64_t{1} << other));
        return known[left] = sum;
    };
    return over(over, line.empty() ? 0 : ~std::uint64_t{0} >> (64 - line.size()));
}

} // namespace oracle

struct DrawnGraph {
    MatchingMatrix matrix;
    const char *function = "hafnian";
    oracle::Gaussian truth;
};

inline perm_opts of_function(const char *function, const char *engine = "auto",
                             const char *precision = "auto") {
    perm_opts opts = in_precision(engine, precision);
    opts.function = function;
    return opts;
}

inline void canonicalize(MatchingMatrix &a) {
    for (auto &row : a.entries)
        for (oracle::Gaussian &x : row) x.re.canonicalize();
    if (a.row_weights)
        for (oracle::Gaussian &x : *a.row_weights) x.re.canonicalize();
}

// Symmetric, of at most so many lines.
template <class Draw>
MatchingMatrix random_graph(perm::families::Random &random, std::int64_t most, const Draw &draw) {
    MatchingMatrix a;
    a.cols = random.integer(0, most);
    const auto n = static_cast<std::size_t>(a.cols);
    const double density = random.uniform(0.15, 1);
    a.entries.assign(n, std::vector<oracle::Gaussian>(n));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i; j < n; ++j)
            if (random.chance(density)) a.entries[i][j] = a.entries[j][i] = draw(random);
    return a;
}
