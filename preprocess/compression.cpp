#include "preprocess/compression.hpp"

#include "preprocess/graph_parts.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace libperm {

namespace {

constexpr std::int64_t most_entries = std::numeric_limits<std::int32_t>::max(); // that a contraction numbers

} // namespace

bool has_light_line(const Pattern &a) {
    std::vector<std::int32_t> of_column(static_cast<std::size_t>(a.cols), 0);
    for (const std::int32_t j : a.col) ++of_column[static_cast<std::size_t>(j)];
    for (std::int32_t i = 0; i < a.rows; ++i)
        if (a.row(i).size() <= 2 || of_column[static_cast<std::size_t>(i)] <= 2) return true;
    return false;
}

template <class Value> Compression<Value> compress(BlockOf<Value> block, const CompressionRule &rule) {
    Compression<Value> out;
    const std::int32_t n = block.n();
    poll();
    if (!has_light_line(block.pattern) || block.pattern.nnz() > most_entries) {
        out.part.block = std::move(block);
        return out;
    }
    Contraction<Value> matrix(std::move(block));
    std::deque<Line> light[3]; // lines that had this degree when they were put here
    const auto note = [&](Line line) {
        const std::int32_t degree = matrix.is_there(line) ? matrix.degree(line) : 3;
        if (degree <= 2) light[degree].push_back(line);
    };
    for (std::int32_t i = 0; i < n; ++i) {
        note({false, i});
        note({true, i});
    }
    for (;;) {
        if (!light[0].empty()) {
            out.is_zero = true;
            return out;
        }
        const std::int32_t degree = rule.degree_1 && !light[1].empty() ? 1 : 2;
        if (light[degree].empty() || (degree == 2 && !rule.degree_2)) break;
        const Line line = light[degree].front();
        light[degree].pop_front();
        if (!matrix.is_there(line) || matrix.degree(line) != degree) continue;
        const std::vector<std::int32_t> crossing = matrix.crossing(line);
        if (degree == 1) {
            out.part.factor = out.part.factor * matrix.remove(line, crossing[0]);
            ++out.degree_1;
        } else {
            matrix.contract(line, crossing[0], crossing[1]);
            ++out.degree_2;
        }
        for (const Line changed : matrix.take_changed()) note(changed);
    }
    out.part.block = matrix.block();
    return out;
}

template Compression<Tracked> compress(Block block, const CompressionRule &rule);
template Compression<Gaussian> compress(ExactBlock block, const CompressionRule &rule);

namespace {

template <class Value> class GraphLines {
    using Entries = std::map<std::int32_t, Value>; // by the other line; a loop by the line itself

  public:
    GraphLines(BlockOf<Value> graph, const CompressionRule &rule)
        : rule_(rule), entries_(at(graph.n())), is_out_(at(graph.n())) {
        std::size_t k = 0;
        for (std::int32_t i = 0; i < graph.n(); ++i)
            for (const std::int32_t j : graph.pattern.row(i)) {
                entries_[at(i)].emplace(j, graph.values[k]);
                if (j != i) entries_[at(j)].emplace(i, graph.values[k]);
                ++k;
            }
        for (std::int32_t i = 0; i < graph.n(); ++i) look_at(i);
    }

    Compression<Value> run() {
        while (!light_.empty()) {
            const std::int32_t line = *light_.begin();
            light_.erase(light_.begin());
            const Entries &entries = entries_[at(line)];
            if (entries.empty()) {
                done_.is_zero = true;
                return std::move(done_);
            }
            if (entries.size() == 1)
                take_single(line);
            else if (entries.contains(line))
                take_with_loop(line);
            else
                contract(line);
        }
        done_.part.block = what_is_left();
        return std::move(done_);
    }

  private:
    void look_at(std::int32_t line) {
        const std::size_t degree = entries_[at(line)].size();
        const bool is_light =
            degree == 0 || (degree == 1 && rule_.degree_1) || (degree == 2 && rule_.degree_2);
        if (is_light && !is_out_[at(line)])
            light_.insert(line);
        else
            light_.erase(line);
    }

    // Its neighbours have it no more.
    void take_out(std::int32_t line) {
        is_out_[at(line)] = true;
        light_.erase(line);
        const Entries entries = std::exchange(entries_[at(line)], {});
        steps_.take(16 * (1 + std::ssize(entries)));
        for (const auto &[other, value] : entries) {
            if (other == line) continue;
            entries_[at(other)].erase(line);
            look_at(other);
        }
    }

    void take_single(std::int32_t line) {
        const auto [other, value] = *entries_[at(line)].begin();
        done_.part.factor = done_.part.factor * value;
        ++done_.degree_1;
        take_out(line);
        if (other != line) take_out(other);
    }

    // Adds to an entry of both its lines.
    void add(std::int32_t line, std::int32_t other, const Value &value) {
        const auto put = [&](std::int32_t on, std::int32_t to) {
            const auto [place, is_new] = entries_[at(on)].emplace(to, value);
            if (!is_new) place->second = place->second + value;
            look_at(on);
        };
        put(line, other);
        if (other != line) put(other, line);
    }

    void take_with_loop(std::int32_t line) {
        const Entries two = entries_[at(line)];
        const Value &loop = two.at(line);
        const auto edge = two.begin()->first == line ? std::next(two.begin()) : two.begin();
        ++done_.degree_2;
        take_out(line);
        replace(edge->first, edge->first, loop);
        add(edge->first, edge->first, edge->second);
    }

    // A line of degree 2 makes of its neighbours the first of them.
    void contract(std::int32_t line) {
        const Entries two = entries_[at(line)];
        const auto first = two.begin(), second = std::next(first);
        ++done_.degree_2;
        take_out(line);
        if (entries_[at(first->first)].contains(second->first)) { // else the line would be left over
            entries_[at(first->first)].erase(second->first);
            entries_[at(second->first)].erase(first->first);
        }
        replace(first->first, first->first, second->second);
        replace(second->first, first->first, first->second);
        is_out_[at(second->first)] = true;
        light_.erase(second->first);
    }

    // The entries of a line, times `by`, become those of another, which may be itself.
    void replace(std::int32_t line, std::int32_t to, const Value &by) {
        const Entries entries = std::exchange(entries_[at(line)], {});
        steps_.take(32 * (1 + std::ssize(entries)));
        for (const auto &[other, value] : entries)
            if (other != line) entries_[at(other)].erase(line);
        for (const auto &[other, value] : entries) add(to, other == line ? to : other, value * by);
        look_at(to);
    }

    BlockOf<Value> what_is_left() const {
        std::vector<std::int32_t> place(entries_.size(), -1);
        std::int32_t lines = 0;
        for (std::size_t i = 0; i < entries_.size(); ++i)
            if (!is_out_[i]) place[i] = lines++;
        std::vector<GraphEntry<Value>> entries;
        for (std::size_t i = 0; i < entries_.size(); ++i)
            for (const auto &[other, value] : entries_[i])
                if (static_cast<std::int32_t>(i) <= other)
                    entries.push_back({place[i], place[at(other)], value});
        return block_of(lines, lines, true, std::move(entries));
    }

    const CompressionRule rule_;
    PolledSteps steps_;
    std::vector<Entries> entries_; // of each line
    std::vector<bool> is_out_;
    std::set<std::int32_t> light_;
    Compression<Value> done_;
};

bool some_line_is_light(const Pattern &graph, const CompressionRule &rule) {
    std::vector<std::int64_t> degree(at(graph.rows), 0);
    for (std::int32_t i = 0; i < graph.rows; ++i)
        for (const std::int32_t j : graph.row(i)) {
            ++degree[at(i)];
            if (j != i) ++degree[at(j)];
        }
    return std::any_of(degree.begin(), degree.end(), [&](std::int64_t d) {
        return d == 0 || (d == 1 && rule.degree_1) || (d == 2 && rule.degree_2);
    });
}

} // namespace

template <class Value> Compression<Value> compress_graph(BlockOf<Value> graph, const CompressionRule &rule) {
    if (!some_line_is_light(graph.pattern, rule)) {
        Compression<Value> nothing;
        nothing.part.block = std::move(graph);
        return nothing;
    }
    return GraphLines<Value>(std::move(graph), rule).run();
}
template Compression<Tracked> compress_graph(Block, const CompressionRule &);
template Compression<Gaussian> compress_graph(ExactBlock, const CompressionRule &);

namespace {

std::vector<std::int32_t> column_degrees(const Pattern &a) {
    std::vector<std::int32_t> degree(static_cast<std::size_t>(a.cols), 0);
    for (const std::int32_t j : a.col) ++degree[static_cast<std::size_t>(j)];
    return degree;
}

} // namespace

Line lightest_line(const Pattern &a) {
    const std::vector<std::int32_t> of_column = column_degrees(a);
    Line lightest;
    std::size_t least = a.col.size() + 1;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        const auto row = a.row(i).size();
        const auto column = static_cast<std::size_t>(of_column[static_cast<std::size_t>(i)]);
        if (std::min(row, column) >= least) continue;
        least = std::min(row, column);
        lightest = {column < row, i};
    }
    return lightest;
}

std::int32_t degree_of(const Pattern &a, Line line) {
    return line.is_column ? column_degrees(a)[static_cast<std::size_t>(line.index)]
                          : static_cast<std::int32_t>(a.row(line.index).size());
}

template <class Value> std::vector<PartOf<Value>> expand(const BlockOf<Value> &block, Line line) {
    std::vector<PartOf<Value>> parts;
    const std::vector<std::int32_t> crossing = Contraction<Value>(block).crossing(line);
    for (std::size_t k = 0; k < crossing.size(); k += 2) {
        Contraction<Value> matrix(block);
        PartOf<Value> &part = parts.emplace_back();
        if (k + 1 < crossing.size())
            matrix.contract(line, crossing[k], crossing[k + 1]);
        else
            part.factor = matrix.remove(line, crossing[k]);
        part.block = matrix.block();
    }
    return parts;
}

template std::vector<PartOf<Tracked>> expand(const Block &block, Line line);
template std::vector<PartOf<Gaussian>> expand(const ExactBlock &block, Line line);

} // namespace libperm
