#include "lib/planar/first_look.hpp"

#include "lib/planar/graph.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace libperm {
namespace {

std::vector<std::int32_t> lines_by_breadth(const PatternGraph &graph, std::int32_t first) {
    std::vector<char> is_met(at(graph.lines()), 0);
    std::vector<std::int32_t> lines{first};
    is_met[at(first)] = 1;
    for (std::size_t k = 0; k < lines.size(); ++k)
        for (const Dart d : graph.around(lines[k])) {
            const std::int32_t other = graph.line_of(across(d));
            if (is_met[at(other)]) continue;
            is_met[at(other)] = 1;
            lines.push_back(other);
        }
    return lines;
}

} // namespace

double operations_by_breadth(const Pattern &a) {
    if (a.rows == 0) return 0;
    const PatternGraph graph(a);
    const std::int32_t far = lines_by_breadth(graph, 0).back();
    std::vector<std::int32_t> left(at(graph.lines())); // entries of a column that are still to come
    for (std::int32_t line = 0; line < graph.lines(); ++line)
        left[at(line)] = static_cast<std::int32_t>(graph.around(line).size());
    std::int32_t open = 0;
    double operations = 0;
    for (const std::int32_t line : lines_by_breadth(graph, far)) {
        if (line >= a.rows) continue;
        for (const Dart d : graph.around(line)) {
            std::int32_t &of = left[at(graph.line_of(across(d)))];
            const auto all = static_cast<std::int32_t>(graph.around(graph.line_of(across(d))).size());
            if (of == all) ++open;
            if (--of == 0) --open;
        }
        // C(w, w/2), nearly.
        const double sets = std::exp2(open) / std::sqrt(std::max(1.0, std::numbers::pi / 2 * open));
        operations += sets * static_cast<double>(graph.around(line).size());
    }
    return operations;
}

} // namespace libperm
