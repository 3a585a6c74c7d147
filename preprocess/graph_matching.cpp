#include "preprocess/matching.hpp"

#include "preprocess/branch_lines.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/max_cardinality_matching.hpp>

#include <algorithm>

namespace libperm {
namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;

// Of a graph with loops two copies, in which an edge joins the two of each vertex with a loop: a perfect
// matching of both is one of the graph in each of them, its loops between them.
Graph without_loops(const Pattern &a) {
    const bool has_loops = sides_of(a) == BranchSides::one_with_loops;
    Graph graph(static_cast<std::size_t>(a.rows) * (has_loops ? 2 : 1));
    const auto vertex = [&](std::int32_t line, int copy) {
        return static_cast<std::size_t>(line) + (copy == 0 ? 0 : static_cast<std::size_t>(a.rows));
    };
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (const std::int32_t j : a.row(i)) {
            if (i == j)
                boost::add_edge(vertex(i, 0), vertex(i, 1), graph);
            else
                for (int copy = 0; copy < (has_loops ? 2 : 1); ++copy)
                    boost::add_edge(vertex(i, copy), vertex(j, copy), graph);
        }
    return graph;
}

} // namespace

bool has_perfect_matching(const Pattern &a, const Poll &poll) {
    if (!a.one_sided) return a.rows == a.cols && maximum_matching(a, poll).size == a.rows;
    poll();
    const Graph graph = without_loops(a);
    const std::size_t vertices = boost::num_vertices(graph);
    std::vector<boost::graph_traits<Graph>::vertex_descriptor> mate(vertices);
    boost::edmonds_maximum_cardinality_matching(graph, mate.data());
    poll();
    return std::none_of(mate.begin(), mate.end(),
                        [](auto other) { return other == boost::graph_traits<Graph>::null_vertex(); });
}

} // namespace libperm
