#include "plot_branches.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace perm {
namespace {

using libperm::Json;

struct List {
    std::int64_t left, right, steps, width;
    double x = 0;
    std::int64_t depth = 0, parent = -1;
};

std::vector<List> lists_of(const Json &branches) {
    const Json::Array &left = branches.array("left"), &right = branches.array("right"),
                      &steps = branches.array("steps"), &width = branches.array("width");
    std::vector<List> lists;
    for (std::size_t k = 0; k < left.size(); ++k)
        lists.push_back({left[k].integer(), right[k].integer(), steps[k].integer(), width[k].integer()});
    return lists;
}

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Those that begin with a leaf side by side as they are walked, a join between the two that it joins. Returns
// how many are side by side.
std::int64_t lay_out(std::vector<List> &lists) {
    std::int64_t begun = 0;
    for (std::size_t k = 0; k < lists.size(); ++k) {
        List &list = lists[k];
        if (list.left < 0) {
            list.x = static_cast<double>(begun++);
            continue;
        }
        list.x = (lists[at(list.left)].x + lists[at(list.right)].x) / 2;
        lists[at(list.left)].parent = lists[at(list.right)].parent = static_cast<std::int64_t>(k);
    }
    for (std::size_t k = lists.size(); k-- > 0;)
        if (lists[k].parent >= 0) lists[k].depth = lists[at(lists[k].parent)].depth + 1;
    return begun;
}

struct NodeStyle {
    double share; // of the largest middle set, at most
    const char *colour;
    double thickness;
};
constexpr NodeStyle node_styles[] = {{0.25, "#a6d5f2", 0.7},
                                     {0.5, "#56B4E9", 1},
                                     {0.75, "#0072B2", 1.5},
                                     {0.9999, "#003a5c", 2},
                                     {1, "#D55E00", 3}};

} // namespace

std::string branches_in_words(const Json &branches) {
    std::int64_t leaves = 0, joins = 0, width = 0;
    for (const List &list : lists_of(branches)) {
        leaves += list.steps;
        joins += list.left >= 0;
        width = std::max(width, list.width);
    }
    return fmt::format("{} leaves, {} join{}, middle sets of up to {} lines", leaves, joins,
                       joins == 1 ? "" : "s", width);
}

std::string plot_branches(const Json &branches, double key_x, double key_y) {
    std::vector<List> lists = lists_of(branches);
    const std::int64_t begun = lay_out(lists);
    std::int64_t width = 1, depth = 0;
    for (const List &list : lists) {
        width = std::max(width, list.width);
        depth = std::max(depth, list.depth);
    }
    std::string data, plots;
    std::int64_t from = 0;
    for (const NodeStyle &style : node_styles) {
        const auto to = static_cast<std::int64_t>(style.share * static_cast<double>(width));
        std::string lines;
        for (const List &list : lists) {
            if (list.width < from || list.width > to) continue;
            if (list.parent >= 0)
                fmt::format_to(std::back_inserter(lines), "{} {}\n", lists[at(list.parent)].x, list.depth);
            fmt::format_to(std::back_inserter(lines), "{0} {1}\n{0} {2}\n\n", list.x, list.depth,
                           list.depth + 1);
        }
        const std::string title = from == 0    ? fmt::format("up to {}", to)
                                  : from == to ? fmt::format("{}", to)
                                               : fmt::format("{} to {}", from, to);
        from = to + 1;
        if (lines.empty()) continue;
        const std::string name = fmt::format("$branches{}", &style - node_styles);
        data += fmt::format("{} << EOD\n{}EOD\n", name, lines);
        plots +=
            fmt::format("{}{} using 1:2 with lines lw {} lc rgb '{}' title '{}{}'", plots.empty() ? "" : ", ",
                        name, style.thickness, style.colour, title, from > width ? " lines" : "");
    }
    return data +
           fmt::format("set key at screen {:.4f},{:.4f} center top horizontal samplen 2 font ',11'\n"
                       "set tics out nomirror scale 0.5\nunset xtics\nset border 2 lw 0.8\n"
                       "set xrange [-0.5:{}]\nset yrange [{}:-0.3]\nset ylabel 'joins above'\nplot {}\n",
                       key_x, key_y, static_cast<double>(begun) - 0.5, static_cast<double>(depth) + 1.3,
                       plots);
}

} // namespace perm
