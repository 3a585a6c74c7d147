#include "lib/planar/crossing_lines.hpp"

#include "lib/planar/faces.hpp"

#include <algorithm>
#include <numeric>

namespace libperm {

std::vector<std::int32_t> entries_of_crossing_lines(const Pattern &a, const Poll &poll) {
    constexpr std::size_t most_lines = 3;
    const PatternGraph graph(a);
    std::vector<std::int32_t> lines(at(graph.lines()));
    std::iota(lines.begin(), lines.end(), 0);
    std::stable_sort(lines.begin(), lines.end(), [&](std::int32_t x, std::int32_t y) {
        return graph.around(x).size() > graph.around(y).size();
    });
    std::vector<char> is_kept(at(graph.entries()), 1);
    for (std::size_t k = 0; k < std::min(lines.size(), most_lines); ++k) {
        poll();
        for (const Dart d : graph.around(lines[k])) is_kept[at(entry_of(d))] = 0;
        if (!planar_rotation(with_entries(a, is_kept))) continue;
        std::vector<std::int32_t> out;
        for (std::int32_t e = 0; e < graph.entries(); ++e)
            if (!is_kept[at(e)]) out.push_back(e);
        return out;
    }
    return {};
}

} // namespace libperm
