#include "preprocess/graph_parts.hpp"

#include "preprocess/branch_lines.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <utility>

namespace libperm {
namespace {

// Of each line the component, in the order of their lowest lines, and whether its distance from that is odd.
struct Walked {
    std::vector<std::int32_t> part;
    std::vector<bool> is_odd;
    std::int32_t parts = 0;
};

Walked walk(const BranchLines &lines) {
    Walked to{std::vector<std::int32_t>(at(lines.count()), -1), std::vector<bool>(at(lines.count())), 0};
    PolledSteps steps;
    std::vector<std::int32_t> queue;
    for (std::int32_t first = 0; first < lines.count(); ++first) {
        if (to.part[at(first)] >= 0) continue;
        to.part[at(first)] = to.parts;
        queue.assign(1, first);
        for (std::size_t k = 0; k < queue.size(); ++k) {
            steps.take(1 + lines.degree(queue[k]));
            for (const std::int32_t e : lines.on(queue[k])) {
                const std::int32_t other = lines.other(queue[k], e);
                if (to.part[at(other)] >= 0) continue;
                to.part[at(other)] = to.parts;
                to.is_odd[at(other)] = !to.is_odd[at(queue[k])];
                queue.push_back(other);
            }
        }
        ++to.parts;
    }
    return to;
}

// Calls take(i, j, value of the entry).
template <class Graph, class Take> void for_entries(Graph &graph, const Take &take) {
    std::size_t k = 0;
    for (std::int32_t i = 0; i < graph.pattern.rows; ++i)
        for (const std::int32_t j : graph.pattern.row(i)) take(i, j, graph.values[k++]);
}

} // namespace

template <class Value>
BlockOf<Value> block_of(std::int32_t rows, std::int32_t columns, bool one_sided,
                        std::vector<GraphEntry<Value>> entries) {
    std::sort(entries.begin(), entries.end(), [](const auto &x, const auto &y) {
        return std::pair(x.row, x.column) < std::pair(y.row, y.column);
    });
    BlockOf<Value> block;
    block.pattern.rows = rows;
    block.pattern.cols = columns;
    block.pattern.one_sided = one_sided;
    block.pattern.row_ptr.assign(at(rows) + 1, 0);
    block.pattern.col.reserve(entries.size());
    block.values.reserve(entries.size());
    for (GraphEntry<Value> &e : entries) {
        ++block.pattern.row_ptr[at(e.row) + 1];
        block.pattern.col.push_back(e.column);
        block.values.push_back(std::move(e.value));
    }
    for (std::int32_t i = 0; i < rows; ++i) block.pattern.row_ptr[at(i) + 1] += block.pattern.row_ptr[at(i)];
    return block;
}

template <class Value> std::vector<BlockOf<Value>> connected_parts(BlockOf<Value> graph) {
    const Walked walked = walk(BranchLines(graph.pattern));
    std::vector<BlockOf<Value>> parts;
    if (walked.parts == 1) {
        parts.push_back(std::move(graph));
        return parts;
    }
    std::vector<std::int32_t> size(at(walked.parts), 0), place(at(graph.n()));
    for (std::int32_t i = 0; i < graph.n(); ++i) place[at(i)] = size[at(walked.part[at(i)])]++;
    std::vector<std::vector<GraphEntry<Value>>> entries(at(walked.parts));
    for_entries(graph, [&](std::int32_t i, std::int32_t j, Value &value) {
        entries[at(walked.part[at(i)])].push_back({place[at(i)], place[at(j)], std::move(value)});
    });
    for (std::size_t p = 0; p < entries.size(); ++p)
        parts.push_back(block_of(size[p], size[p], true, std::move(entries[p])));
    return parts;
}

template <class Value> std::optional<BlockOf<Value>> as_two_sided(const BlockOf<Value> &graph) {
    const Walked walked = walk(BranchLines(graph.pattern));
    std::vector<std::int32_t> place(at(graph.n()));
    std::int32_t rows = 0, columns = 0;
    for (std::int32_t i = 0; i < graph.n(); ++i) place[at(i)] = walked.is_odd[at(i)] ? columns++ : rows++;
    std::vector<GraphEntry<Value>> entries;
    bool is_two_sided = true;
    for_entries(graph, [&](std::int32_t i, std::int32_t j, const Value &value) {
        is_two_sided = is_two_sided && walked.is_odd[at(i)] != walked.is_odd[at(j)];
        if (is_two_sided)
            entries.push_back(walked.is_odd[at(i)] ? GraphEntry<Value>{place[at(j)], place[at(i)], value}
                                                   : GraphEntry<Value>{place[at(i)], place[at(j)], value});
    });
    if (!is_two_sided) return {};
    return block_of(rows, columns, false, std::move(entries));
}

Block both_halves(const Block &graph) {
    std::vector<GraphEntry<Tracked>> entries;
    for_entries(graph, [&](std::int32_t i, std::int32_t j, const Tracked &value) {
        entries.push_back({i, j, value});
        if (i != j) entries.push_back({j, i, value});
    });
    return block_of(graph.n(), graph.n(), false, std::move(entries));
}

Pattern both_halves(const Pattern &graph) {
    return both_halves(Block{graph, std::vector<Tracked>(static_cast<std::size_t>(graph.nnz()))}).pattern;
}

template Block block_of(std::int32_t, std::int32_t, bool, std::vector<GraphEntry<Tracked>>);
template ExactBlock block_of(std::int32_t, std::int32_t, bool, std::vector<GraphEntry<Gaussian>>);
template std::vector<Block> connected_parts(Block);
template std::vector<ExactBlock> connected_parts(ExactBlock);
template std::optional<Block> as_two_sided(const Block &);
template std::optional<ExactBlock> as_two_sided(const ExactBlock &);

} // namespace libperm
