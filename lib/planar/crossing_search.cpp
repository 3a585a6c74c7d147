#include "lib/planar/crossing_search.hpp"

#include "lib/planar/cycle_search.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boyer_myrvold_planar_test.hpp>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

using Entries = std::vector<std::int32_t>;

class Planarity {
  public:
    Planarity(const PatternGraph &graph, const Poll &poll) : graph_(graph), poll_(poll) {}

    // Of the graph with these entries alone.
    bool holds(const Entries &entries) const {
        using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;
        poll_();
        if (std::ssize(entries) > 2 * std::int64_t{graph_.lines()} - 4) return false;
        Graph graph(at(graph_.lines()));
        for (const std::int32_t e : entries)
            boost::add_edge(at(graph_.row_of(e)), at(graph_.column_of(e)), graph);
        return boost::boyer_myrvold_planarity_test(graph);
    }

  private:
    const PatternGraph &graph_;
    const Poll &poll_;
};

// In their order as many entries are kept as can be: those that are left out, at most so many and one more.
Entries left_out(const Planarity &planarity, const Entries &order, std::size_t most) {
    Entries kept, out;
    const auto with = [&](std::size_t from, std::size_t to) {
        Entries entries = kept;
        entries.insert(entries.end(), order.begin() + std::ptrdiff_t(from),
                       order.begin() + std::ptrdiff_t(to));
        return entries;
    };
    for (std::size_t from = 0; out.size() <= most;) {
        if (planarity.holds(with(from, order.size()))) break;
        std::size_t all_fit = from, one_does_not = order.size();
        while (one_does_not - all_fit > 1) {
            const std::size_t middle = (all_fit + one_does_not) / 2;
            (planarity.holds(with(from, middle)) ? all_fit : one_does_not) = middle;
        }
        kept = with(from, all_fit);
        out.push_back(order[all_fit]);
        from = one_does_not;
    }
    return out;
}

// By how long the way round is from an entry's row to its column: the crossings of a lattice come last.
Entries by_way_round(const PatternGraph &graph) {
    CycleSearch search(graph);
    std::vector<std::int32_t> way(at(graph.entries()));
    Entries order(way.size());
    for (std::int32_t e = 0; e < graph.entries(); ++e) {
        const std::int32_t length = search.through(e).length;
        way[at(e)] = length > 0 ? length : CycleSearch::longest + 1;
        order[at(e)] = e;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t x, std::int32_t y) { return way[at(x)] < way[at(y)]; });
    return order;
}

// What is left out at first comes first then: an entry that crosses several others is left out for them.
Entries few_entries(const PatternGraph &graph, const Planarity &planarity) {
    constexpr int rounds = 4;
    Entries order = by_way_round(graph), best;
    for (int round = 0; round < rounds; ++round) {
        const std::size_t most = best.empty() ? 2 * most_crossings : best.size();
        Entries out = left_out(planarity, order, most);
        if (out.size() > most) break;
        const auto is_first = [&](std::int32_t e) {
            return std::find(out.begin(), out.end(), e) != out.end();
        };
        std::stable_partition(order.begin(), order.end(), is_first);
        if (best.empty() || out.size() < best.size()) best = std::move(out);
    }
    if (best.size() > most_crossings) return {};
    std::sort(best.begin(), best.end());
    return best;
}

// Of the longest lines.
Entries entries_of_lines(const PatternGraph &graph, const Planarity &planarity) {
    std::vector<std::int32_t> lines(at(graph.lines()));
    std::iota(lines.begin(), lines.end(), 0);
    std::stable_sort(lines.begin(), lines.end(), [&](std::int32_t x, std::int32_t y) {
        return graph.around(x).size() > graph.around(y).size();
    });
    std::vector<char> is_left_out(at(graph.entries()), 0);
    for (std::size_t k = 0; k < std::min<std::size_t>(lines.size(), most_crossing_lines); ++k) {
        for (const Dart d : graph.around(lines[k])) is_left_out[at(entry_of(d))] = 1;
        Entries kept, out;
        for (std::int32_t e = 0; e < graph.entries(); ++e) (is_left_out[at(e)] ? out : kept).push_back(e);
        if (planarity.holds(kept)) return out;
    }
    return {};
}

} // namespace

std::vector<std::int32_t> crossings_of(const Pattern &a, const Poll &poll) {
    const PatternGraph graph(a);
    const Planarity planarity(graph, poll);
    Entries crossings;
    if (a.nnz() <= 4 * std::int64_t{a.rows} - 4 + most_crossings) crossings = few_entries(graph, planarity);
    return crossings.empty() ? entries_of_lines(graph, planarity) : crossings;
}

} // namespace libperm
