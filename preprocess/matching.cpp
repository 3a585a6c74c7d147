#include "preprocess/matching.hpp"

#include "preprocess/branch_decomposition.hpp"
#include "preprocess/index.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/max_cardinality_matching.hpp>
#include <iterator>
#include <utility>

namespace libperm {
namespace {

constexpr std::int32_t unreached = -1;

class HopcroftKarp {
  public:
    HopcroftKarp(const Pattern &a)
        : a_(a), layer_(static_cast<std::size_t>(a.rows)), next_(static_cast<std::size_t>(a.rows)) {
        m_.col_of_row.assign(static_cast<std::size_t>(a.rows), -1);
        m_.row_of_col.assign(static_cast<std::size_t>(a.cols), -1);
    }

    Matching run() {
        while (build_layers())
            for (std::int32_t i = 0; i < a_.rows; ++i) {
                steps_.take();
                if (m_.col_of_row[at(i)] < 0 && augment(i)) ++m_.size;
            }
        return std::move(m_);
    }

  private:
    // Breadth-first layers of rows from the free rows; true if a free column is reached.
    bool build_layers() {
        queue_.clear();
        for (std::int32_t i = 0; i < a_.rows; ++i) {
            steps_.take();
            next_[at(i)] = 0;
            layer_[at(i)] = m_.col_of_row[at(i)] < 0 ? 0 : unreached;
            if (layer_[at(i)] == 0) queue_.push_back(i);
        }
        bool found = false;
        for (std::size_t head = 0; head < queue_.size(); ++head) {
            const std::int32_t i = queue_[head];
            steps_.take(1 + std::ssize(a_.row(i)));
            for (const std::int32_t j : a_.row(i)) {
                const std::int32_t k = m_.row_of_col[at(j)];
                if (k < 0)
                    found = true;
                else if (layer_[at(k)] == unreached) {
                    layer_[at(k)] = layer_[at(i)] + 1;
                    queue_.push_back(k);
                }
            }
        }
        return found;
    }

    // Depth-first along the layers with an explicit stack: long chains must not exhaust the call stack.
    bool augment(std::int32_t root) {
        stack_.assign(1, root);
        while (!stack_.empty()) {
            steps_.take();
            const std::int32_t i = stack_.back();
            const auto row = a_.row(i);
            if (next_[at(i)] == row.size()) {
                layer_[at(i)] = unreached;
                stack_.pop_back();
                continue;
            }
            const std::int32_t j = row[next_[at(i)]++];
            const std::int32_t k = m_.row_of_col[at(j)];
            if (k >= 0) {
                if (layer_[at(k)] == layer_[at(i)] + 1) stack_.push_back(k);
                continue;
            }
            steps_.take(std::ssize(stack_));
            for (const std::int32_t r : stack_) { // every row takes the column it last tried
                const std::int32_t c = a_.row(r)[next_[at(r)] - 1];
                m_.col_of_row[at(r)] = c;
                m_.row_of_col[at(c)] = r;
                layer_[at(r)] = unreached;
            }
            return true;
        }
        return false;
    }

    const Pattern &a_;
    Matching m_;
    std::vector<std::int32_t> layer_;
    std::vector<std::size_t> next_;
    std::vector<std::int32_t> queue_, stack_;
    PolledSteps steps_;
};

} // namespace

Matching maximum_matching(const Pattern &a) { return HopcroftKarp(a).run(); }

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
