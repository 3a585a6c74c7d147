#include "lib/planar/faces.hpp"

#include "preprocess/index.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boyer_myrvold_planar_test.hpp>
#include <boost/graph/planar_face_traversal.hpp>

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

// What Boost tells on its way round the faces.
class Collector {
  public:
    Collector(const Graph &graph, Faces &faces) : graph_(graph), faces_(faces) {}
    void begin_traversal() {}
    void begin_face() { faces_.entries.emplace_back(); }
    template <class E> void next_edge(E edge) {
        faces_.entries.back().push_back(boost::get(boost::edge_index, graph_, edge));
    }
    template <class Vertex> void next_vertex(Vertex) {}
    void end_face() {}
    void end_traversal() {}

  private:
    const Graph &graph_;
    Faces &faces_;
};

} // namespace

std::optional<Faces> faces_of(const Pattern &a) {
    if (a.nnz() > 4 * std::int64_t{a.rows} - 4 && a.rows > 1) return {};
    const Graph graph = graph_of(a);
    std::vector<std::vector<Edge>> around(boost::num_vertices(graph));
    const bool is_planar = boost::boyer_myrvold_planarity_test(
        boost::boyer_myrvold_params::graph = graph, boost::boyer_myrvold_params::embedding = around.data());
    if (!is_planar) return {};
    Faces faces;
    Collector collector(graph, faces);
    boost::planar_face_traversal(graph, around.data(), collector);
    return faces;
}

} // namespace libperm
