#include "preprocess/graph_compression.hpp"

#include "preprocess/graph_parts.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace libperm {
namespace {

template <class Value> class GraphLines {
    using Entries = std::map<std::int32_t, Value>; // by the other line; a loop by the line itself

  public:
    GraphLines(BlockOf<Value> graph, const CompressionRule &rule)
        : rule_(rule), steps_(), entries_(at(graph.n())), is_out_(at(graph.n())) {
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

} // namespace libperm
