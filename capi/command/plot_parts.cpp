#include "plot_parts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
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

constexpr std::int64_t most_cells = 400;    // of a raster's side
constexpr std::size_t most_squares = 500;   // drawn one by one
constexpr std::int64_t most_outlined = 200; // blocks along the diagonal that can be told apart

// Okabe and Ito's colours, which can be told apart by the colour-blind.
constexpr const char *kept_colour = "#0072B2", *dropped_colour = "#999999", *costliest_colour = "#D55E00";

// 1, 2 or 5 times a power of ten: about five tics.
std::int64_t tic_distance(std::int64_t n) {
    std::int64_t power = 1;
    while (power * 50 <= n) power *= 10;
    for (const std::int64_t factor : {1, 2, 5})
        if (n <= 5 * factor * power) return factor * power;
    return 10 * power;
}

// Each list of squares has a data block of its own; an empty one gnuplot would refuse.
std::string plot_squares(const std::vector<Entry> &entries, double half_side) {
    std::string data, plots;
    for (const bool dropped : {true, false}) {
        std::string points;
        for (const Entry &e : entries)
            if (e.dropped == dropped) fmt::format_to(std::back_inserter(points), "{} {}\n", e.col, e.row);
        if (points.empty()) continue;
        const char *name = dropped ? "$dropped" : "$kept";
        data += fmt::format("{} << EOD\n{}EOD\n", name, points);
        plots += fmt::format(
            "{}{} using ($1+0.5):($2+0.5):({}):({}) with boxxyerror fs solid noborder lc rgb '{}'",
            plots.empty() ? "" : ", ", name, half_side, half_side, dropped ? dropped_colour : kept_colour);
    }
    return data + "plot " + (plots.empty() ? "NaN" : plots) + "\n";
}

// Levels of the palette: 0 white, 1-9 grey, 11-19 blue.
class Raster {
  public:
    explicit Raster(std::int64_t n)
        : enlarged_(std::max<std::int64_t>(1, most_cells / n)),
          reduced_((n + most_cells - 1) / most_cells),
          side_((n * enlarged_ + reduced_ - 1) / reduced_),
          levels_(static_cast<std::size_t>(side_ * side_), 0) {}

    void fill(const std::vector<Entry> &entries, bool dropped, int base) {
        std::vector<std::int64_t> counts(levels_.size(), 0);
        for (const Entry &e : entries) {
            if (e.dropped != dropped) continue;
            for (std::int64_t y = 0; y < enlarged_; ++y)
                for (std::int64_t x = 0; x < enlarged_; ++x)
                    ++counts[static_cast<std::size_t>((e.row * enlarged_ + y) / reduced_ * side_ +
                                                      (e.col * enlarged_ + x) / reduced_)];
        }
        std::int64_t most = 1;
        for (const std::int64_t count : counts) most = std::max(most, count);
        for (std::size_t k = 0; k < counts.size(); ++k)
            if (counts[k] > 0)
                levels_[k] = base + 1 +
                             static_cast<int>(
                                 8 * std::sqrt(static_cast<double>(counts[k]) / static_cast<double>(most)));
    }

    std::string plot() const {
        std::string text = "$raster << EOD\n";
        for (std::size_t k = 0; k < levels_.size(); ++k)
            fmt::format_to(std::back_inserter(text), "{}{}", levels_[k],
                           (k + 1) % static_cast<std::size_t>(side_) == 0 ? '\n' : ' ');
        const double cell = static_cast<double>(reduced_) / static_cast<double>(enlarged_);
        return text + fmt::format("EOD\nset xrange [0:{0}]\nset yrange [{0}:0]\n"
                                  "set palette defined (0 '#ffffff', 1 '#d9d9d9', 9 '{1}', 10 '{1}', "
                                  "11 '#a6d5f2', 19 '{2}')\nset cbrange [0:19]\nunset colorbox\n"
                                  "plot $raster matrix using (($1+0.5)*{3}):(($2+0.5)*{3}):3 with image\n",
                                  cell * static_cast<double>(side_), dropped_colour, kept_colour, cell);
    }

  private:
    std::int64_t enlarged_, reduced_, side_; // cells for a line, lines for a cell, cells
    std::vector<int> levels_;
};

std::string plot_raster(std::int64_t n, const std::vector<Entry> &entries) {
    Raster raster(n);
    raster.fill(entries, true, 0);
    raster.fill(entries, false, 10);
    return raster.plot();
}

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

std::string plot_pattern(std::int64_t n, const std::vector<Entry> &entries,
                         const std::vector<Outline> &outlines) {
    std::string text = fmt::format("set xrange [0:{0}]\nset yrange [{0}:0]\nset tics out nomirror scale 0.5\n"
                                   "set xtics {1}\nset ytics {1}\n",
                                   std::max<std::int64_t>(1, n), tic_distance(n));
    for (const Outline &o : outlines)
        if (o.costliest || o.size * most_outlined >= n)
            text += fmt::format(
                "set object rectangle from {0},{0} to {1},{1} front fs empty border lc rgb '{2}' lw {3}\n",
                o.begin, o.begin + o.size, o.costliest ? costliest_colour : "black", o.costliest ? 2.5 : 1);
    constexpr std::int64_t with_gaps = 40; // between squares
    return text + (entries.size() <= most_squares ? plot_squares(entries, n <= with_gaps ? 0.45 : 0.5)
                                                  : plot_raster(n, entries));
}

} // namespace perm
