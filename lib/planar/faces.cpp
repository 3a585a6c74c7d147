#include "lib/planar/faces.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boyer_myrvold_planar_test.hpp>

namespace libperm {
namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property,
                                    boost::property<boost::edge_index_t, std::int32_t>>;
using Edge = boost::graph_traits<Graph>::edge_descriptor;

// Rows, then columns; an edge's index is its entry.
Graph graph_of(const Pattern &a) {
    Graph graph(at(a.rows) + at(a.cols));
    std::int32_t entry = 0;
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (const std::int32_t j : a.row(i)) boost::add_edge(at(i), at(a.rows) + at(j), entry++, graph);
    return graph;
}

std::int32_t connected_parts(const PatternGraph &graph) { // that have entries
    std::vector<char> is_met(at(graph.lines()), 0);
    std::vector<std::int32_t> todo;
    std::int32_t parts = 0;
    for (std::int32_t root = 0; root < graph.lines(); ++root) {
        if (is_met[at(root)] || graph.around(root).empty()) continue;
        ++parts;
        is_met[at(root)] = 1;
        for (todo.push_back(root); !todo.empty();) {
            const std::int32_t line = todo.back();
            todo.pop_back();
            for (const Dart d : graph.around(line)) {
                const std::int32_t other = graph.line_of(across(d));
                if (is_met[at(other)]) continue;
                is_met[at(other)] = 1;
                todo.push_back(other);
            }
        }
    }
    return parts;
}

} // namespace

std::optional<Rotation> planar_rotation(const Pattern &a) {
    if (a.nnz() > 4 * std::int64_t{a.rows} - 4 && a.rows > 1) return {};
    const Graph graph = graph_of(a);
    std::vector<std::vector<Edge>> around(boost::num_vertices(graph));
    const bool is_planar = boost::boyer_myrvold_planarity_test(
        boost::boyer_myrvold_params::graph = graph, boost::boyer_myrvold_params::embedding = around.data());
    if (!is_planar) return {};
    Rotation rotation(2 * at(a.nnz()));
    for (std::size_t line = 0; line < around.size(); ++line) {
        const auto dart = [&, side = line < at(a.rows) ? 0 : 1](const Edge &edge) {
            return 2 * boost::get(boost::edge_index, graph, edge) + side;
        };
        const std::vector<Edge> &edges = around[line];
        for (std::size_t k = 0; k < edges.size(); ++k)
            rotation[at(dart(edges[k]))] = dart(edges[(k + 1) % edges.size()]);
    }
    return rotation;
}

Faces faces_of(const Rotation &rotation) {
    Faces faces;
    faces.of_dart.assign(rotation.size(), -1);
    for (std::size_t first = 0; first < rotation.size(); ++first) {
        if (faces.of_dart[first] != -1) continue;
        const auto face = static_cast<std::int32_t>(faces.darts.size());
        std::vector<Dart> &darts = faces.darts.emplace_back();
        for (auto d = static_cast<Dart>(first); faces.of_dart[at(d)] == -1; d = rotation[at(across(d))]) {
            faces.of_dart[at(d)] = face;
            darts.push_back(d);
        }
    }
    return faces;
}

std::int32_t genus_of(const PatternGraph &graph, const Faces &faces) {
    std::int32_t lines = 0;
    for (std::int32_t line = 0; line < graph.lines(); ++line) lines += graph.around(line).empty() ? 0 : 1;
    const auto count = static_cast<std::int32_t>(faces.darts.size());
    return (2 * connected_parts(graph) - lines + graph.entries() - count) / 2;
}

} // namespace libperm
