#include "lib/planar/faces.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boyer_myrvold_planar_test.hpp>

namespace libperm {
namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property,
                                    boost::property<boost::edge_index_t, std::int32_t>>;
using Edge = boost::graph_traits<Graph>::edge_descriptor;

// An edge's index is its entry.
Graph graph_of(const PatternGraph &lines) {
    Graph graph(at(lines.lines()));
    for (std::int32_t entry = 0; entry < lines.entries(); ++entry)
        boost::add_edge(at(lines.row_of(entry)), at(lines.column_of(entry)), entry, graph);
    return graph;
}

bool has_too_many_entries(const Pattern &a) {
    const std::int64_t lines = a.lines(), most = a.one_sided ? 3 * lines - 6 : 2 * lines - 4;
    return lines > 2 && a.nnz() > most;
}

// How many sets of darts are joined by these steps, step(d, meet) for each meet(other).
template <class Step> std::int32_t sets_of_darts(std::size_t darts, const Step &step) {
    std::vector<char> is_met(darts, 0);
    std::vector<Dart> todo;
    const auto meet = [&](Dart d) {
        if (is_met[at(d)]) return;
        is_met[at(d)] = 1;
        todo.push_back(d);
    };
    std::int32_t sets = 0;
    for (std::size_t first = 0; first < darts; ++first) {
        if (is_met[first]) continue;
        ++sets;
        for (meet(static_cast<Dart>(first)); !todo.empty();) {
            const Dart d = todo.back();
            todo.pop_back();
            step(d, meet);
        }
    }
    return sets;
}

} // namespace

Pattern with_entries(const Pattern &a, const std::vector<char> &is_kept) {
    Pattern out;
    out.rows = a.rows;
    out.cols = a.cols;
    std::size_t entry = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        for (const std::int32_t j : a.row(i))
            if (is_kept[entry++]) out.col.push_back(j);
        out.row_ptr.push_back(std::ssize(out.col));
    }
    return out;
}

std::optional<Rotation> planar_rotation(const Pattern &a) {
    if (has_too_many_entries(a)) return {};
    const PatternGraph lines(a);
    const Graph graph = graph_of(lines);
    std::vector<std::vector<Edge>> around(boost::num_vertices(graph));
    const bool is_planar = boost::boyer_myrvold_planarity_test(
        boost::boyer_myrvold_params::graph = graph, boost::boyer_myrvold_params::embedding = around.data());
    if (!is_planar) return {};
    Rotation rotation(2 * at(a.nnz()));
    for (std::size_t line = 0; line < around.size(); ++line) {
        const auto dart = [&](const Edge &edge) {
            const std::int32_t entry = boost::get(boost::edge_index, graph, edge);
            return 2 * entry + (at(lines.row_of(entry)) == line ? 0 : 1);
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

std::int32_t genus_of(const Rotation &rotation, const Faces &faces) {
    const auto round_lines = [&](Dart d, const auto &meet) { meet(rotation[at(d)]); };
    const auto everywhere = [&](Dart d, const auto &meet) {
        meet(rotation[at(d)]);
        meet(across(d));
    };
    const std::int32_t lines = sets_of_darts(rotation.size(), round_lines),
                       parts = sets_of_darts(rotation.size(), everywhere);
    return (2 * parts - lines + static_cast<std::int32_t>(rotation.size() / 2) -
            static_cast<std::int32_t>(faces.darts.size())) /
           2;
}

} // namespace libperm
