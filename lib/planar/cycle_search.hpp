// The shortest cycles through each entry.
#pragma once

#include "lib/planar/graph.hpp"

#include <vector>

namespace libperm {

using Cycle = std::vector<Dart>; // that follow each other

struct ShortestCycles {
    std::int32_t length = 0; // 0: too long to be looked for
    std::vector<Cycle> cycles;
};

class CycleSearch {
  public:
    static constexpr std::int32_t longest = 12;

    explicit CycleSearch(const PatternGraph &graph);
    ShortestCycles through(std::int32_t entry);

  private:
    void walk(std::int32_t line, Dart last, ShortestCycles &found);

    const PatternGraph &graph_;
    std::vector<std::int32_t> distance_; // by line, from the column; -1: not met
    std::vector<std::int32_t> met_;
    Cycle path_;
};

} // namespace libperm
