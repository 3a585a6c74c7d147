// Graphs that are drawn at random, and each copy of a line written as a line of its own.
#pragma once

#include "tests/support/graph_matchings.hpp"

#include <string_view>

// With what stands for a line that stays single: nothing, its loop, or its weight.
struct DrawnLines {
    MatchingMatrix matrix;
    const char *function = "hafnian";

    bool has_loops() const { return std::string_view(function) == "loop_hafnian"; }
};

// Copies stand where loops are no entries of the matrix.
inline DrawnLines draw_lines(perm::families::Random &random, const DrawnKind &kind, std::int64_t most_lines,
                             bool may_repeat = true) {
    DrawnLines drawn{random_graph(random, most_lines, kind.draw)};
    MatchingMatrix &a = drawn.matrix;
    if (random.chance(0.5)) drawn.function = "loop_hafnian";
    if (drawn.has_loops() && random.chance(0.4)) {
        a.row_weights.emplace();
        for (std::int64_t i = 0; i < a.cols; ++i)
            a.row_weights->push_back(random.chance(0.2) ? oracle::Gaussian{} : kind.draw(random));
    }
    if (may_repeat && (!drawn.has_loops() || a.row_weights) && random.chance(0.25) && a.cols <= 5)
        for (std::int64_t i = 0; i < a.cols; ++i) a.row_times.push_back(random.integer(0, 2));
    canonicalize(a);
    return drawn;
}

struct GraphCopies {
    std::vector<std::size_t> line; // that each copy is of
    MatchingMatrix matrix;         // with what single lines count on its diagonal

    explicit GraphCopies(const DrawnLines &of) {
        const MatchingMatrix &a = of.matrix;
        for (std::size_t i = 0; i < a.entries.size(); ++i)
            line.insert(line.end(), a.row_times.empty() ? 1 : static_cast<std::size_t>(a.row_times[i]), i);
        matrix.cols = std::ssize(line);
        for (std::size_t p = 0; p < line.size(); ++p) {
            auto &row = matrix.entries.emplace_back();
            for (const std::size_t j : line) row.push_back(a.entries[line[p]][j]);
            if (!of.has_loops()) row[p] = oracle::Gaussian{};
            if (a.row_weights) row[p] = (*a.row_weights)[line[p]];
        }
    }
};
