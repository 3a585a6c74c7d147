// Graphs of lines that repeat: kinds, how often each counts, and the lines themselves in any order.
#pragma once

#include "preprocess/block.hpp"
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/graph_matchings.hpp"

#include <algorithm>
#include <utility>
#include <vector>

// Of each kind a row of `entries`, whose diagonal is between lines of that kind, and its loop in row_weights.
struct RepeatedGraph {
    MatchingMatrix matrix;
    std::vector<std::size_t> kind; // of each line

    std::size_t lines() const { return kind.size(); }
    oracle::Gaussian hafnian() const { return oracle::over_pairs(matrix, false); }
};

// `draw` makes an entry or a loop; the lines of a kind stand anywhere.
template <class Draw>
RepeatedGraph repeated_graph(const std::vector<std::int64_t> &times, double density, bool loops,
                             perm::families::Random &random, const Draw &draw) {
    const std::size_t n = times.size();
    RepeatedGraph graph;
    graph.matrix.cols = std::ssize(times);
    graph.matrix.row_times = times;
    graph.matrix.entries.assign(n, std::vector<oracle::Gaussian>(n));
    graph.matrix.row_weights.emplace(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i; j < n; ++j)
            if (random.chance(density)) graph.matrix.entries[i][j] = graph.matrix.entries[j][i] = draw();
        if (loops && random.chance(density)) (*graph.matrix.row_weights)[i] = draw();
        graph.kind.insert(graph.kind.end(), static_cast<std::size_t>(times[i]), i);
    }
    for (std::size_t i = graph.kind.size(); i > 1; --i)
        std::swap(graph.kind[i - 1],
                  graph.kind[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i) - 1))]);
    return graph;
}

inline libperm::ExactBlock block_of(const RepeatedGraph &graph) {
    libperm::ExactBlock block;
    const auto n = static_cast<std::int32_t>(graph.lines());
    block.pattern = {n, n, {0}, {}, true};
    const auto add = [&](std::size_t j, const oracle::Gaussian &x) {
        if (x.re == 0 && x.im == 0) return;
        block.pattern.col.push_back(static_cast<std::int32_t>(j));
        block.values.push_back(x);
    };
    for (std::size_t i = 0; i < graph.lines(); ++i) {
        add(i, (*graph.matrix.row_weights)[graph.kind[i]]);
        for (std::size_t j = i + 1; j < graph.lines(); ++j)
            add(j, graph.matrix.entries[graph.kind[i]][graph.kind[j]]);
        block.pattern.row_ptr.push_back(std::ssize(block.pattern.col));
    }
    return block;
}
