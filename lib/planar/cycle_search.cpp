#include "lib/planar/cycle_search.hpp"

namespace libperm {
namespace {

constexpr std::size_t most_lines = 300, most_cycles = 12; // looked at; of one entry

} // namespace

CycleSearch::CycleSearch(const PatternGraph &graph) : graph_(graph), distance_(at(graph.lines()), -1) {}

ShortestCycles CycleSearch::through(std::int32_t entry) {
    const std::int32_t row = graph_.row_of(entry), column = graph_.column_of(entry);
    met_.assign(1, column);
    distance_[at(column)] = 0;
    for (std::size_t k = 0; k < met_.size() && distance_[at(row)] == -1 && met_.size() < most_lines; ++k) {
        const std::int32_t next = distance_[at(met_[k])] + 1;
        if (next >= longest) break;
        for (const Dart d : graph_.around(met_[k])) {
            const std::int32_t other = graph_.line_of(across(d));
            if (entry_of(d) == entry || distance_[at(other)] != -1) continue;
            distance_[at(other)] = next;
            met_.push_back(other);
        }
    }
    ShortestCycles found;
    if (distance_[at(row)] > 0) {
        found.length = distance_[at(row)] + 1;
        path_.clear();
        walk(row, 2 * entry + 1, found);
    }
    for (const std::int32_t line : met_) distance_[at(line)] = -1;
    return found;
}

// Down to the column, and back by the last dart.
void CycleSearch::walk(std::int32_t line, Dart last, ShortestCycles &found) {
    if (found.cycles.size() == most_cycles) return;
    if (distance_[at(line)] == 0) {
        found.cycles.push_back(path_);
        found.cycles.back().push_back(last);
        return;
    }
    for (const Dart d : graph_.around(line)) {
        const std::int32_t other = graph_.line_of(across(d));
        if (distance_[at(other)] != distance_[at(line)] - 1 || entry_of(d) == entry_of(last)) continue;
        path_.push_back(d);
        walk(other, last, found);
        path_.pop_back();
    }
}

} // namespace libperm
