#include "preprocess/matching.hpp"

#include "preprocess/branch_lines.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/max_cardinality_matching.hpp>

#include <utility>

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

std::optional<Matching> perfect_matching(const Pattern &a) {
    if (!a.one_sided) {
        if (a.rows != a.cols) return {};
        Matching matching = maximum_matching(a);
        return matching.size == a.rows ? std::optional(std::move(matching)) : std::nullopt;
    }
    poll();
    const Graph graph = without_loops(a);
    std::vector<boost::graph_traits<Graph>::vertex_descriptor> mate(boost::num_vertices(graph));
    boost::edmonds_maximum_cardinality_matching(graph, mate.data());
    poll();
    Matching matching{a.rows, {}, {}};
    for (std::int32_t line = 0; line < a.rows; ++line) {
        const auto other = mate[static_cast<std::size_t>(line)];
        if (other == boost::graph_traits<Graph>::null_vertex()) return {};
        const bool is_loop = other >= static_cast<std::size_t>(a.rows);
        matching.col_of_row.push_back(is_loop ? line : static_cast<std::int32_t>(other));
    }
    matching.row_of_col = matching.col_of_row;
    return matching;
}

bool has_perfect_matching(const Pattern &a) { return perfect_matching(a).has_value(); }

} // namespace libperm
