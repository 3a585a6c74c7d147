#include "plot.hpp"

#include "gnuplot.hpp"
#include "plot_pattern.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <perm.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

namespace perm {
namespace {

using nlohmann::json;
using Lines = std::vector<std::int64_t>;

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

std::string begin(const Panel &p, const std::string &title) {
    return fmt::format(
        "reset\nunset key\nset border lw 0.8\nset title {} noenhanced font ',13' offset 0,-0.3\n"
        "set lmargin at screen {:.4f}\nset rmargin at screen {:.4f}\n"
        "set bmargin at screen {:.4f}\nset tmargin at screen {:.4f}\n",
        title, p.left, p.right, p.bottom, p.top);
}

// Two lines, of no text that others wrote: gnuplot has line ends in double quotes only.
std::string two_lines(const std::string &first, const std::string &second) {
    return fmt::format("\"{}\\n{}\"", first, second);
}

std::string label(const std::string &text, double x, double y, const char *style) {
    return fmt::format("set label {} at screen {:.4f},{:.4f} noenhanced {}\n", quoted(text), x, y, style);
}

std::string count(std::int64_t number, const char *one, const char *many) {
    return fmt::format("{} {}", number, number == 1 ? one : many);
}

// Where each line stands in an order.
Lines places(const json &order) {
    Lines place(order.size());
    for (std::size_t k = 0; k < order.size(); ++k)
        place[order[k].get<std::size_t>()] = static_cast<std::int64_t>(k);
    return place;
}

std::vector<Entry> entries_of(const json &pattern) {
    const auto row_ptr = pattern.at("row_ptr").get<Lines>(), col = pattern.at("col").get<Lines>();
    std::vector<Entry> entries;
    for (std::size_t i = 0; i + 1 < row_ptr.size(); ++i)
        for (auto k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
            entries.push_back({static_cast<std::int64_t>(i), col[static_cast<std::size_t>(k)], false});
    return entries;
}

std::vector<Entry> ordered(std::vector<Entry> entries, const json &orders) {
    const Lines row = places(orders.at("rows")), col = places(orders.at("cols"));
    for (Entry &e : entries)
        e = {row[static_cast<std::size_t>(e.row)], col[static_cast<std::size_t>(e.col)], e.dropped};
    return entries;
}

std::string plot_given(const Panel &panel, const json &plan, const std::string &header) {
    const auto n = plan.at("n").get<std::int64_t>();
    const std::vector<Entry> entries = entries_of(plan.at("picture"));
    return begin(panel, two_lines("as given", fmt::format("n = {}, {}", n,
                                                          count(std::ssize(entries), "entry", "entries")))) +
           header + plot_pattern(n, entries, {});
}

std::string plot_blocks(const Panel &panel, const json &picture) {
    const json &blocks = picture.at("blocks");
    const auto sizes = blocks.at("sizes").get<Lines>();
    const json &costliest = picture.at("costliest");
    const json marked = costliest.is_null() ? json() : costliest.at("block");
    std::vector<Outline> outlines;
    std::vector<std::size_t> block; // of each line
    for (std::size_t b = 0; b < sizes.size(); ++b) {
        outlines.push_back({std::ssize(block), sizes[b], marked == b});
        block.insert(block.end(), static_cast<std::size_t>(sizes[b]), b);
    }
    // The marked one is drawn over its neighbours.
    std::stable_partition(outlines.begin(), outlines.end(), [](const Outline &o) { return !o.costliest; });
    std::vector<Entry> entries = ordered(entries_of(picture), blocks);
    for (Entry &e : entries)
        e.dropped = block[static_cast<std::size_t>(e.row)] != block[static_cast<std::size_t>(e.col)];
    const auto dropped =
        std::count_if(entries.begin(), entries.end(), [](const Entry &e) { return e.dropped; });
    return begin(panel, two_lines(fmt::format("taken apart: {}", count(std::ssize(sizes), "block", "blocks")),
                                  fmt::format("{} in no perfect matching (grey)",
                                              count(dropped, "entry", "entries")))) +
           plot_pattern(std::ssize(block), entries, outlines);
}

std::string plot_costliest(const Panel &panel, const json &block) {
    const bool transposed = block.at("transposed");
    std::vector<Entry> entries = ordered(entries_of(block), block);
    if (transposed) // drawn as the frontier runs: down
        for (Entry &e : entries) std::swap(e.row, e.col);
    const auto n = std::ssize(block.at("rows"));
    const std::string order = block.at("open").empty() ? "as given: no frontier" : "in the frontier's order";
    return begin(panel,
                 two_lines("the block that takes longest, " + order,
                           fmt::format("n = {}, {}{}", n, count(std::ssize(entries), "entry", "entries"),
                                       transposed ? ", transposed" : ""))) +
           plot_pattern(n, entries, {{0, n, true}});
}

std::string rounded(double number) {
    return number < 1e6 ? fmt::format("{:.0f}", number) : fmt::format("{:.2e}", number);
}

std::string plot_frontier(const json &block) {
    constexpr const char *blue = "#0072B2", *orange = "#D55E00";
    const json &open = block.at("open"), &states = block.at("states");
    const bool transposed = block.at("transposed");
    double most_states = 10, most_open = 1;
    std::string data = "$frontier << EOD\n0 1 0\n";
    for (std::size_t t = 0; t < open.size(); ++t) {
        const auto s = states[t].get<double>(), w = open[t].get<double>();
        fmt::format_to(std::back_inserter(data), "{} {} {}\n", t + 1, s, w);
        most_states = std::max(most_states, s);
        most_open = std::max(most_open, w);
    }
    const auto max = *std::max_element(states.begin(), states.end());
    return data + "EOD\n" +
           begin(
               {lower_left, frontier_right, lower_bottom, lower_top},
               two_lines("the frontier in that block",
                         fmt::format("at most {} states, {} open", rounded(max.get<double>()), most_open))) +
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

std::string plot_engines(const Panel &panel, const json &plan) {
    const json &names = plan.at("picture").at("engines");
    const json &candidates = plan.at("candidates");
    double least = 1e300, most = 0;
    for (const json &c : candidates)
        if (const json &s = c.at("seconds"); s.is_number() && s.get<double>() > 0) {
            least = std::min(least, s.get<double>());
            most = std::max(most, s.get<double>());
        }
    if (most == 0) least = most = 1;
    most = std::min(most, 1e300); // its tic must be a double too
    const double low = std::pow(10, std::floor(std::log10(least)) - 1),
                 high = std::pow(10, std::ceil(std::log10(most)));
    std::string text = begin(panel, two_lines("predicted time of each engine", "refused ones are hatched"));
    text += fmt::format(
        "set logscale x\nset format x '10^{{%T}}'\nset xrange [{}:{}]\nset yrange [{}:0]\n"
        "set tics out nomirror scale 0.5\nunset ytics\nset border 1 lw 0.8\nset xlabel 'seconds'\n",
        low, high, std::max<std::size_t>(4, candidates.size()));
    std::string data, plots;
    for (const Style &style : styles) {
        std::string bars;
        for (std::size_t k = 0; k < candidates.size(); ++k) {
            const json &c = candidates[k];
            if (c.at("status") != style.status) continue;
            const std::string what = c.contains("why_not") && c.at("status") == "refused"
                                         ? "refused: " + in_short(c.at("why_not"))
                                         : c.at("status").get<std::string>();
            text += fmt::format("set label {} at graph 0.005, first {} noenhanced font ',11'\n",
                                quoted(fmt::format("{}: {}, {}", names[k].at("name").get<std::string>(),
                                                   names[k].at("time").get<std::string>(), what)),
                                static_cast<double>(k) + 0.3);
            if (const json &s = c.at("seconds"); s.is_number())
                fmt::format_to(std::back_inserter(bars), "{} {} {}\n", k, low,
                               std::max(low, s.get<double>()));
        }
        if (bars.empty()) continue;
        const std::string name = fmt::format("$bars{}", &style - styles);
        data += fmt::format("{} << EOD\n{}EOD\n", name, bars);
        plots += fmt::format("{}{} using 2:($1+0.7):2:3:($1+0.55):($1+0.88) with boxxyerror {}",
                             plots.empty() ? "" : ", ", name, style.fill);
    }
    return data + text + "plot " + (plots.empty() ? "NaN" : plots) + "\n";
}

std::string outcome_line(const json &plan) {
    if (plan.at("refused").get<bool>()) return fmt::format("refused: {}", plan.value("refusal", ""));
    const json &picture = plan.at("picture");
    if (picture.at("costliest").is_null()) return plan.at("why");
    std::string engine = plan.at("engine").get<std::string>();
    if (plan.contains("form")) engine.append(" ").append(plan.at("form").get<std::string>());
    return fmt::format("{} to compute; {} on the {}, predicted {}",
                       count(plan.at("blocks"), "block", "blocks"), engine,
                       plan.at("device") == "gpu" ? "GPU" : "CPU", picture.at("time").get<std::string>());
}

std::string header(const json &plan, const std::string &title) {
    constexpr double left = 25 / width, top = 1 - 30 / height, line = 26 / height;
    return label(title, left, top, "font ',20'") +
           label(cut(outcome_line(plan), 130), left, top - line, "font ',14'") +
           label(plan.at("picture").at("reduced"), left, top - 2 * line, "font ',12' tc rgb '#555555'");
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
    const json plan = json::parse(picture);
    const json &shown = plan.at("picture"), &costliest = shown.at("costliest"), &blocks = shown.at("blocks");
    std::string text = "set encoding utf8\nset terminal " + terminal + "\nset multiplot\n";
    int panel = 0;
    text += plot_given(pattern_panel(panel++), plan, header(plan, title));
    if (!blocks.is_null() && blocks.at("sizes").size() > 1)
        text += plot_blocks(pattern_panel(panel++), shown);
    if (!costliest.is_null()) {
        const bool has_frontier = !costliest.at("open").empty();
        const bool is_given =
            !has_frontier && !costliest.at("block").is_null() && blocks.at("sizes").size() == 1;
        if (!is_given) text += plot_costliest(pattern_panel(panel++), costliest);
        if (has_frontier) text += plot_frontier(costliest);
        text += plot_engines(
            {has_frontier ? engines_left : lower_left, engines_right, lower_bottom, lower_top}, plan);
    }
    return text + "unset multiplot\n";
}

} // namespace perm
