#include "lib/planar/kasteleyn.hpp"

#include <algorithm>
#include <iterator>

namespace libperm {

Forest::Forest(const PatternGraph &graph) : to_parent(at(graph.lines()), -1), depth(at(graph.lines()), -1) {
    std::vector<std::int32_t> lines;
    for (std::int32_t root = 0; root < graph.lines(); ++root) {
        if (depth[at(root)] != -1) continue;
        depth[at(root)] = 0;
        lines.assign(1, root);
        for (std::size_t k = 0; k < lines.size(); ++k)
            for (const Dart d : graph.around(lines[k])) {
                const std::int32_t other = graph.line_of(across(d));
                if (depth[at(other)] != -1) continue;
                depth[at(other)] = depth[at(lines[k])] + 1;
                to_parent[at(other)] = across(d);
                lines.push_back(other);
            }
    }
}

KasteleynSigns::KasteleynSigns(const PatternGraph &graph, const Faces &faces, const Forest &forest)
    : graph_(graph),
      faces_(faces),
      parent_(faces.darts.size(), -1),
      to_parent_(faces.darts.size(), -1),
      is_negative_(at(graph.entries()), 0) {
    std::vector<char> is_taken(at(graph.entries()), 0); // by one of the forests
    for (const Dart d : forest.to_parent)
        if (d != -1) is_taken[at(entry_of(d))] = 1;
    std::vector<char> is_met(faces.darts.size(), 0);
    std::vector<std::int32_t> order;
    for (std::size_t root = 0; root < faces.darts.size(); ++root) {
        if (is_met[root]) continue;
        is_met[root] = 1;
        order.push_back(static_cast<std::int32_t>(root));
        for (std::size_t k = order.size() - 1; k < order.size(); ++k)
            for (const Dart d : faces.darts[at(order[k])]) {
                const std::int32_t other = faces.of_dart[at(across(d))];
                if (is_met[at(other)] || is_taken[at(entry_of(d))]) continue;
                is_taken[at(entry_of(d))] = 1;
                is_met[at(other)] = 1;
                parent_[at(other)] = order[k];
                to_parent_[at(other)] = entry_of(d);
                order.push_back(other);
            }
    }
    for (auto face = order.rbegin(); face != order.rend(); ++face) { // each behind all below it
        if (parent_[at(*face)] == -1) continue;
        bool is_wrong = true; // an even number points the way round
        for (const Dart d : faces.darts[at(*face)])
            is_wrong ^= leaves_row(d) != (is_negative_[at(entry_of(d))] != 0);
        is_negative_[at(to_parent_[at(*face)])] = is_wrong;
    }
    for (std::int32_t entry = 0; entry < graph.entries(); ++entry)
        if (!is_taken[at(entry)]) around_handles_.push_back(entry);
}

std::vector<std::int32_t> KasteleynSigns::from_outer(std::int32_t face) const {
    std::vector<std::int32_t> entries;
    for (; face != -1; face = parent_[at(face)])
        if (parent_[at(face)] != -1) entries.push_back(to_parent_[at(face)]);
    std::sort(entries.begin(), entries.end());
    return entries;
}

std::vector<std::int32_t> KasteleynSigns::between(std::int32_t face, std::int32_t other) const {
    const std::vector<std::int32_t> x = from_outer(face), y = from_outer(other);
    std::vector<std::int32_t> flips;
    std::set_symmetric_difference(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(flips));
    return flips;
}

std::vector<std::int32_t> KasteleynSigns::flips_with(std::int32_t entry) const {
    std::vector<std::int32_t> flips =
        between(faces_.of_dart[at(2 * entry)], faces_.of_dart[at(2 * entry + 1)]);
    flips.push_back(entry);
    return flips;
}

std::vector<std::int32_t> KasteleynSigns::flips_between(std::int32_t line, std::int32_t other) const {
    const auto a_face = [&](std::int32_t of) { // a line without entries stands outside
        return graph_.around(of).empty() ? -1 : faces_.of_dart[at(graph_.around(of).front())];
    };
    return between(a_face(line), a_face(other));
}

} // namespace libperm
