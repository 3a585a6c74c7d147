// The picture of a plan: its patterns, its frontier and its engines, as gnuplot draws it.
#include "commands.hpp"

#include "lib/base/json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fmt/core.h>
#include <iterator>
#include <memory>
#include <perm.hpp>
#include <stdexcept>
#include <sys/wait.h>
#include <vector>

namespace perm {
namespace {

using libperm::Json;
using Lines = std::vector<std::int64_t>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// In shares of the picture's width and height.
struct Panel {
    double left, right, bottom, top;
};
constexpr double width = 1200, height = 900;
constexpr double side = 310; // of a pattern
constexpr double lower_left = 70 / width, frontier_right = 0.5, engines_left = 0.6, engines_right = 0.97;

Panel pattern_panel(int k) {
    const double left = (70 + 385 * k) / width;
    return {left, left + side / width, 1 - (160 + side) / height, 1 - 160 / height};
}
constexpr double lower_bottom = 60 / height, lower_top = 335 / height;

// Its title has two lines, of no text that others wrote: gnuplot has line ends in double quotes only.
std::string begin(const Panel &p, const std::string &first, const std::string &second) {
    return fmt::format(
        "reset\nunset key\nset border lw 0.8\nset title \"{}\\n{}\" noenhanced font ',13' offset 0,-0.3\n"
        "set lmargin at screen {:.4f}\nset rmargin at screen {:.4f}\n"
        "set bmargin at screen {:.4f}\nset tmargin at screen {:.4f}\n",
        first, second, p.left, p.right, p.bottom, p.top);
}

// What one command draws: each curve has a data block of its own, and an empty one gnuplot would refuse.
class Curves {
  public:
    // `how`: what is drawn of the points, and how.
    void add(const std::string &points, const std::string &how) {
        if (points.empty()) return;
        const std::string name = fmt::format("$data{}", count_++);
        data_ += fmt::format("{} << EOD\n{}EOD\n", name, points);
        plots_ += fmt::format("{}{} {}", plots_.empty() ? "" : ", ", name, how);
    }

    // Behind the settings that it is drawn with.
    std::string drawn(const std::string &settings) const {
        return data_ + settings + "plot " + (plots_.empty() ? "NaN" : plots_) + "\n";
    }

  private:
    int count_ = 0;
    std::string data_, plots_;
};

std::string label(const std::string &text, double x, double y, const char *style) {
    return fmt::format("set label {} at screen {:.4f},{:.4f} noenhanced {}\n", quoted(text), x, y, style);
}

std::string count(std::int64_t number, const char *one, const char *many) {
    return fmt::format("{} {}", number, number == 1 ? one : many);
}

Lines lines_of(const Json &json, const char *key) {
    Lines lines;
    for (const Json &line : json.array(key)) lines.push_back(line.integer());
    return lines;
}

// ---------------------------------------------------------------- patterns

struct Entry {
    std::int64_t row, col;
    bool dropped; // in no perfect matching
};

struct Outline {
    std::int64_t begin, size; // of a block on the diagonal
    bool costliest;
};

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

std::string plot_squares(const std::vector<Entry> &entries, double half_side) {
    Curves curves;
    for (const bool dropped : {true, false}) {
        std::string points;
        for (const Entry &e : entries)
            if (e.dropped == dropped) fmt::format_to(std::back_inserter(points), "{} {}\n", e.col, e.row);
        curves.add(
            points,
            fmt::format("using ($1+0.5):($2+0.5):({0}):({0}) with boxxyerror fs solid noborder lc rgb '{1}'",
                        half_side, dropped ? dropped_colour : kept_colour));
    }
    return curves.drawn("");
}

// Levels of the palette: 0 white, 1-9 grey, 11-19 blue.
class Raster {
  public:
    Raster(std::int64_t n, const std::vector<Entry> &entries)
        : enlarged_(std::max<std::int64_t>(1, most_cells / n)),
          reduced_((n + most_cells - 1) / most_cells),
          side_((n * enlarged_ + reduced_ - 1) / reduced_),
          levels_(at(side_ * side_), 0) {
        fill(entries, true, 0);
        fill(entries, false, 10);
    }

    std::string plot() const {
        std::string text = "$raster << EOD\n";
        for (std::size_t k = 0; k < levels_.size(); ++k)
            fmt::format_to(std::back_inserter(text), "{}{}", levels_[k],
                           (k + 1) % at(side_) == 0 ? '\n' : ' ');
        const double cell = static_cast<double>(reduced_) / static_cast<double>(enlarged_);
        return text + fmt::format("EOD\nset xrange [0:{0}]\nset yrange [{0}:0]\n"
                                  "set palette defined (0 '#ffffff', 1 '#d9d9d9', 9 '{1}', 10 '{1}', "
                                  "11 '#a6d5f2', 19 '{2}')\nset cbrange [0:19]\nunset colorbox\n"
                                  "plot $raster matrix using (($1+0.5)*{3}):(($2+0.5)*{3}):3 with image\n",
                                  cell * static_cast<double>(side_), dropped_colour, kept_colour, cell);
    }

  private:
    void fill(const std::vector<Entry> &entries, bool dropped, int base) {
        std::vector<std::int64_t> counts(levels_.size(), 0);
        for (const Entry &e : entries) {
            if (e.dropped != dropped) continue;
            for (std::int64_t y = 0; y < enlarged_; ++y)
                for (std::int64_t x = 0; x < enlarged_; ++x)
                    ++counts[at((e.row * enlarged_ + y) / reduced_ * side_ +
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

    std::int64_t enlarged_, reduced_, side_; // cells for a line, lines for a cell, cells
    std::vector<int> levels_;
};

// Sets the axes of an n x n pattern and draws it: each entry as a square or, where there are many, a raster
// whose cells are the darker, the more entries they hold.
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
                                                  : Raster(n, entries).plot());
}

// Where each line stands in an order.
Lines places(const Lines &order) {
    Lines place(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) place[at(order[k])] = static_cast<std::int64_t>(k);
    return place;
}

std::vector<Entry> entries_of(const Json &pattern) {
    const Lines row_ptr = lines_of(pattern, "row_ptr"), col = lines_of(pattern, "col");
    std::vector<Entry> entries;
    for (std::size_t i = 0; i + 1 < row_ptr.size(); ++i)
        for (auto k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
            entries.push_back({static_cast<std::int64_t>(i), col[at(k)], false});
    return entries;
}

std::vector<Entry> ordered(std::vector<Entry> entries, const Json &orders) {
    const Lines row = places(lines_of(orders, "rows")), col = places(lines_of(orders, "cols"));
    for (Entry &e : entries) e = {row[at(e.row)], col[at(e.col)], e.dropped};
    return entries;
}

std::string plot_given(const Panel &panel, const Json &plan, const std::string &header) {
    const auto n = plan.integer("n");
    const std::vector<Entry> entries = entries_of(plan.at("picture"));
    return begin(panel, "as given",
                 fmt::format("n = {}, {}", n, count(std::ssize(entries), "entry", "entries"))) +
           header + plot_pattern(n, entries, {});
}

std::string plot_blocks(const Panel &panel, const Json &picture) {
    const Json &blocks = picture.at("blocks");
    const Lines sizes = lines_of(blocks, "sizes");
    const Json &costliest = picture.at("costliest");
    const Json marked = costliest.is_null() ? Json() : costliest.at("block");
    std::vector<Outline> outlines;
    std::vector<std::size_t> block; // of each line
    for (std::size_t b = 0; b < sizes.size(); ++b) {
        outlines.push_back({std::ssize(block), sizes[b], marked == Json(b)});
        block.insert(block.end(), at(sizes[b]), b);
    }
    // The marked one is drawn over its neighbours.
    std::stable_partition(outlines.begin(), outlines.end(), [](const Outline &o) { return !o.costliest; });
    std::vector<Entry> entries = ordered(entries_of(picture), blocks);
    for (Entry &e : entries) e.dropped = block[at(e.row)] != block[at(e.col)];
    const auto dropped =
        std::count_if(entries.begin(), entries.end(), [](const Entry &e) { return e.dropped; });
    return begin(panel, fmt::format("taken apart: {}", count(std::ssize(sizes), "block", "blocks")),
                 fmt::format("{} in no perfect matching (grey)", count(dropped, "entry", "entries"))) +
           plot_pattern(std::ssize(block), entries, outlines);
}

bool has_frontier(const Json &block) {
    return !block.array("open").empty() || !block.at("branches").is_null();
}

std::string plot_costliest(const Panel &panel, const Json &block) {
    const bool transposed = block.flag("transposed");
    std::vector<Entry> entries = ordered(entries_of(block), block);
    if (transposed) // drawn as the frontier runs: down
        for (Entry &e : entries) std::swap(e.row, e.col);
    const auto n = std::ssize(block.array("rows"));
    const std::string order = has_frontier(block) ? "in the frontier's order" : "as given: no frontier";
    return begin(panel, "the block that takes longest, " + order,
                 fmt::format("n = {}, {}{}", n, count(std::ssize(entries), "entry", "entries"),
                             transposed ? ", transposed" : "")) +
           plot_pattern(n, entries, {{0, n, true}});
}

// ---------------------------------------------------------------- states

std::string rounded(double number) {
    return number < 1e6 ? fmt::format("{:.0f}", number) : fmt::format("{:.2e}", number);
}

std::string plot_frontier(const Json &block) {
    constexpr const char *blue = "#0072B2", *orange = "#D55E00";
    const Json::Array &open = block.array("open"), &states = block.array("states");
    const bool transposed = block.flag("transposed");
    double most_states = 10, most_open = 1, peak = 0;
    std::string data = "$frontier << EOD\n0 1 0\n";
    for (std::size_t t = 0; t < open.size(); ++t) {
        const double s = states[t].number(), w = open[t].number();
        fmt::format_to(std::back_inserter(data), "{} {} {}\n", t + 1, s, w);
        peak = std::max(peak, s);
        most_open = std::max(most_open, w);
    }
    most_states = std::max(most_states, peak);
    return data + "EOD\n" +
           begin({lower_left, frontier_right, lower_bottom, lower_top}, "the frontier in that block",
                 fmt::format("at most {} states, {} open", rounded(peak), most_open)) +
           fmt::format(
               "set logscale y\nset format y '10^{{%T}}'\nset tics out nomirror scale 0.5\nset y2tics\n"
               "set xrange [0:{}]\nset yrange [0.8:{}]\nset y2range [0:{}]\n"
               "set xlabel '{} done'\nset ylabel 'states' tc rgb '{}'\n"
               "set y2label 'open {} (dashed)' tc rgb '{}'\n"
               "plot $frontier using 1:2 with lines lw 2 lc rgb '{}', "
               "$frontier using 1:3 axes x1y2 with lines lw 2 dt 2 lc rgb '{}'\n",
               open.size(), 2 * most_states, 1.15 * most_open, transposed ? "columns" : "rows", blue,
               transposed ? "rows" : "columns", orange, blue, orange);
}

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

// The tree of the lists of states, the result on top: a line for each list, the thicker and darker, the
// larger its largest middle set.
std::string plot_tree(const Json &branches) {
    const Panel panel{lower_left, frontier_right, lower_bottom, lower_top};
    std::vector<List> lists = lists_of(branches);
    const std::int64_t begun = lay_out(lists);
    std::int64_t leaves = 0, joins = 0, widest = 0, depth = 0;
    for (const List &list : lists) {
        leaves += list.steps;
        joins += list.left >= 0;
        widest = std::max(widest, list.width);
        depth = std::max(depth, list.depth);
    }
    Curves curves;
    std::int64_t from = 0;
    for (const NodeStyle &style : node_styles) {
        const auto to = static_cast<std::int64_t>(style.share * static_cast<double>(widest));
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
        curves.add(lines, fmt::format("using 1:2 with lines lw {} lc rgb '{}' title '{}{}'", style.thickness,
                                      style.colour, title, from > widest ? " lines" : ""));
    }
    return begin(panel, "the branches of that block",
                 fmt::format("{} leaves, {}, middle sets of up to {} lines", leaves,
                             count(joins, "join", "joins"), widest)) +
           curves.drawn(
               fmt::format("set key at screen {:.4f},{:.4f} center top horizontal samplen 2 font ',11'\n"
                           "set tics out nomirror scale 0.5\nunset xtics\nset border 2 lw 0.8\n"
                           "set xrange [-0.5:{}]\nset yrange [{}:-0.3]\nset ylabel 'joins above'\n",
                           (panel.left + panel.right) / 2, panel.bottom - 8 / height,
                           static_cast<double>(begun) - 0.5, static_cast<double>(depth) + 1.3));
}

// ---------------------------------------------------------------- engines and all

std::string cut(const std::string &text, std::size_t most) {
    return text.size() <= most ? text : text.substr(0, text.rfind(' ', most)) + " ...";
}

// Up to where it says by how much, or what to do.
std::string in_short(const std::string &why) { return cut(why.substr(0, why.find_first_of(",;:")), 48); }

struct Style {
    const char *status, *fill;
};
constexpr Style styles[] = {{"chosen", "fs solid noborder lc rgb '#009E73'"},
                            {"possible", "fs solid noborder lc rgb '#56B4E9'"},
                            {"refused", "lc rgb '#777777' fs pattern 4 border"},
                            {"no GPU", "lc rgb '#777777' fs pattern 4 border"}};

// "12 us" as a picture has it.
std::string with_micro(std::string time) {
    if (const auto at = time.find(" us"); at != time.npos) time.replace(at, 3, " µs");
    return time;
}

// Of a logarithmic axis of seconds.
constexpr const char times[] =
    "set xtics ('1 ns' 1e-9, '1 µs' 1e-6, '1 ms' 1e-3, '1 s' 1, '1 min' 60, '1 h' 3600, '1 day' 86400, '1 "
    "year' 31557600, "
    "'1000 years' 3.15576e10, '10^{6} years' 3.15576e13, '10^{9} years' 3.15576e16)\n";

// A mark at each engine's time: on a logarithmic axis a bar's length would say nothing.
std::string plot_engines(const Panel &panel, const Json &plan) {
    const Json::Array &names = plan.at("picture").array("engines");
    const Json::Array &candidates = plan.array("candidates");
    double least = 1e300, most = 0;
    for (const Json &c : candidates)
        if (const Json &s = c.at("seconds"); !s.is_null() && s.number() > 0) {
            least = std::min(least, s.number());
            most = std::max(most, s.number());
        }
    if (most == 0) least = most = 1;
    constexpr double longest = 1e18; // what takes longer stands there, or the others would lie on a heap
    least = std::min(least, longest);
    most = std::min(most, longest);
    // Some three decades at least, so that there are tics to read it by.
    const double decades = std::max(3.5, std::log10(most / least) + 1),
                 middle = (std::log10(most) + std::log10(least)) / 2,
                 low = std::pow(10, middle - decades / 2), high = std::pow(10, middle + decades / 2),
                 half_mark = std::pow(10, 0.012 * decades); // to either side
    std::string text = begin(panel, "predicted time of each engine", "refused ones are hatched");
    text += fmt::format("set logscale x\n{}set xrange [{}:{}]\nset yrange [{}:0]\n"
                        "set tics out nomirror scale 0.5\nset grid xtics lc rgb '#dddddd'\nunset ytics\nset "
                        "border 1 lw 0.8\n",
                        times, low, high, std::max<std::size_t>(4, candidates.size()));
    Curves curves;
    for (const Style &style : styles) {
        std::string bars;
        for (std::size_t k = 0; k < candidates.size(); ++k) {
            const Json &c = candidates[k];
            if (c.at("status") != style.status) continue;
            const std::string what = c.find("why_not") && c.at("status") == "refused"
                                         ? "refused: " + in_short(c.text("why_not"))
                                         : c.text("status");
            text += fmt::format("set label {} at graph 0.005, first {} noenhanced font ',11'\n",
                                quoted(fmt::format("{}: {}, {}", names[k].text("name"),
                                                   with_micro(names[k].text("time")), what)),
                                static_cast<double>(k) + 0.3);
            if (const Json &s = c.at("seconds"); !s.is_null()) {
                const double shown = std::clamp(s.number(), low, longest);
                fmt::format_to(std::back_inserter(bars), "{} {} {}\n", k, shown / half_mark,
                               shown * half_mark);
            }
        }
        curves.add(bars,
                   fmt::format("using 2:($1+0.7):2:3:($1+0.55):($1+0.88) with boxxyerror {}", style.fill));
    }
    return curves.drawn(text);
}

std::string outcome_line(const Json &plan) {
    if (plan.flag("refused")) return "refused: " + (plan.find("refusal") ? plan.text("refusal") : "");
    const Json &picture = plan.at("picture");
    if (picture.at("costliest").is_null()) return plan.text("why");
    std::string engine = plan.text("engine");
    if (plan.find("form")) engine += " " + plan.text("form");
    return fmt::format("{} to compute; {} on the {}, predicted {}",
                       count(plan.integer("blocks"), "block", "blocks"), engine,
                       plan.at("device") == "gpu" ? "GPU" : "CPU", with_micro(picture.text("time")));
}

std::string header(const Json &plan, const std::string &title) {
    constexpr double left = 25 / width, top = 1 - 30 / height, line = 26 / height;
    return label(title, left, top, "font ',20'") +
           label(cut(outcome_line(plan), 130), left, top - line, "font ',14'") +
           label(plan.at("picture").text("reduced"), left, top - 2 * line, "font ',12' tc rgb '#555555'");
}

} // namespace

std::string plot_terminal(const std::string &file) {
    const std::string ending = std::filesystem::path(file).extension().string();
    if (ending == ".svg")
        return fmt::format("svg size {},{} fixed font 'Arial,13' background 'white' name 'perm'", width,
                           height);
    if (ending == ".png")
        return fmt::format(
            "pngcairo size {},{} fontscale 1.12 linewidth 1.5 font 'Arial,10' background 'white'",
            1.5 * width, 1.5 * height);
    if (ending == ".pdf")
        return fmt::format("pdfcairo size {}in,{}in font 'Arial,13' fontscale 0.72 background 'white'",
                           width / 100, height / 100);
    throw Error(PERM_BAD_OPTION, "--plot: '" + file + "' ends in none of .svg, .png and .pdf");
}

std::string plot_script(const std::string &picture, const std::string &title, const std::string &terminal) {
    const Json plan = Json::read(picture);
    const Json &shown = plan.at("picture"), &costliest = shown.at("costliest"), &blocks = shown.at("blocks");
    std::string text = "set encoding utf8\nset terminal " + terminal + "\nset multiplot\n";
    int panel = 0;
    text += plot_given(pattern_panel(panel++), plan, header(plan, title));
    if (!blocks.is_null() && blocks.array("sizes").size() > 1)
        text += plot_blocks(pattern_panel(panel++), shown);
    if (!costliest.is_null()) {
        const bool is_given =
            !has_frontier(costliest) && !costliest.at("block").is_null() && blocks.array("sizes").size() == 1;
        if (!is_given) text += plot_costliest(pattern_panel(panel++), costliest);
        if (const Json &branches = costliest.at("branches"); !branches.is_null())
            text += plot_tree(branches);
        else if (has_frontier(costliest))
            text += plot_frontier(costliest);
        text += plot_engines(
            {has_frontier(costliest) ? engines_left : lower_left, engines_right, lower_bottom, lower_top},
            plan);
    }
    return text + "unset multiplot\n";
}

namespace {

struct Closer {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

// Files and not pipes, so that neither side waits for the other.
File temporary_file(const std::string &text) {
    File file(std::tmpfile());
    if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
        std::fflush(file.get()) != 0 || std::fseek(file.get(), 0, SEEK_SET) != 0)
        throw std::runtime_error("--plot: a temporary file cannot be written");
    return file;
}

std::string rest_of(std::FILE *file) {
    std::string text;
    char part[65536];
    while (const std::size_t size = std::fread(part, 1, sizeof part, file)) text.append(part, size);
    return text;
}

std::string how_it_ended(int status) {
    return WIFSIGNALED(status) ? fmt::format("was ended by signal {}", WTERMSIG(status))
                               : fmt::format("ended with exit status {}", WEXITSTATUS(status));
}

} // namespace

std::string gnuplot(const std::string &script) {
    constexpr int not_found = 127; // as the shell says it
    const File in = temporary_file(script), errors = temporary_file("");
    // -d: without the settings that a user has.
    const std::string command =
        fmt::format("exec gnuplot -d - <&{} 2>&{}", fileno(in.get()), fileno(errors.get()));
    // No word of it is a caller's. NOLINTNEXTLINE(bugprone-command-processor,cert-env33-c)
    std::FILE *out = popen(command.c_str(), "r");
    if (!out) throw std::runtime_error("--plot: gnuplot cannot be started");
    std::string picture = rest_of(out);
    const int status = pclose(out);
    if (WIFEXITED(status) && WEXITSTATUS(status) == not_found)
        throw Error(PERM_UNSUPPORTED,
                    "--plot needs gnuplot, which is not found; on Debian: apt-get install gnuplot-nox");
    if (status == 0) return picture;
    const std::string said = std::fseek(errors.get(), 0, SEEK_SET) == 0 ? rest_of(errors.get()) : "nothing";
    throw std::runtime_error(
        fmt::format("--plot: gnuplot {}. What it said:\n{}", how_it_ended(status), said));
}

std::string quoted(const std::string &text) {
    // What is no UTF-8 is replaced on the way to JSON.
    const std::string valid = libperm::Json::read(libperm::Json(text).written(-1)).text();
    std::string out = "'";
    for (const char c : valid) {
        if (c == '\'') out += c;
        out += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
    }
    return out + "'";
}

} // namespace perm
