#include "preprocess/graph_parts.hpp"

#include "preprocess/branch_decomposition.hpp"
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

namespace {

// Of a graph and a copy of it, in which an entry joins the two of each line with a loop: a perfect matching
// of both is one of the graph in each of them, its loops between them. Node `line` is a line, `lines + line`
// its copy.
class TwoCopies {
  public:
    TwoCopies(const Pattern &graph, const Matching &perfect) : lines_(graph), perfect_(perfect) {}

    const BranchLines &lines() const { return lines_; }
    std::int32_t count() const { return 2 * lines_.count(); }
    std::span<const std::int32_t> on(std::int32_t node) const { return lines_.on(line_of(node)); }
    std::int32_t other(std::int32_t node, std::int32_t entry) const {
        return to(node, lines_.other(line_of(node), entry));
    }
    std::int32_t partner(std::int32_t node) const { return to(node, perfect_.col_of_row[at(line_of(node))]); }

  private:
    bool is_first(std::int32_t node) const { return node < lines_.count(); }
    std::int32_t line_of(std::int32_t node) const { return is_first(node) ? node : node - lines_.count(); }
    std::int32_t to(std::int32_t node, std::int32_t line) const {
        const bool is_loop = line_of(node) == line;
        return is_first(node) == is_loop ? line + lines_.count() : line;
    }

    BranchLines lines_;
    const Matching &perfect_;
};

// The ends of paths of even length, by Edmonds' search: a tree of paths from the root, whose nodes are even
// or odd by their distance. Where an entry joins two even ones, all of the odd cycle that it closes can be
// come to in an even number of steps, and counts as one node, its base.
class EvenPaths {
  public:
    EvenPaths(const TwoCopies &graph, std::int64_t most_steps)
        : graph_(graph), nodes_(at(graph.count())), left_(most_steps) {}

    // From the partner of a node, which is taken out, to each node in turn until is_enough(node). False:
    // there were not steps enough.
    template <class IsEnough> bool walk(std::int32_t without, const IsEnough &is_enough) {
        ++search_;
        queue_.clear();
        root_ = graph_.partner(without);
        meet_even(root_);
        for (std::size_t k = 0; k < queue_.size(); ++k) {
            const std::int32_t node = queue_[k];
            if (is_enough(node)) return true;
            for (const std::int32_t entry : graph_.on(node)) {
                steps_.take();
                if (--left_ < 0) return false;
                if (const std::int32_t other = graph_.other(node, entry); other != without)
                    go(node, other, entry);
            }
        }
        return true;
    }

    // The entries outside the matching on the way to a node, take(entry), from its end as far as it keeps to
    // the tree.
    template <class Take> void along_way_to(std::int32_t node, const Take &take) const {
        while (node != root_ && !nodes_[at(node)].was_odd) {
            const Node &odd = nodes_[at(graph_.partner(node))];
            take(odd.entry);
            node = odd.from;
        }
    }

  private:
    struct Node {
        std::int32_t met = 0, passed = 0;   // in which search; on which way up
        std::int32_t from = -1, entry = -1; // an odd one: whence, and along which entry
        std::int32_t base = -1;
        bool is_even = false, was_odd = false;
    };

    void go(std::int32_t node, std::int32_t other, std::int32_t entry) {
        Node &there = nodes_[at(other)];
        if (there.met != search_) {
            there = {search_, there.passed, node, entry, other, false, true};
            meet_even(graph_.partner(other));
        } else if (there.is_even && base(node) != base(other)) {
            const std::int32_t top = common(node, other);
            shrink(node, top);
            shrink(other, top);
        }
    }
    void meet_even(std::int32_t node) {
        nodes_[at(node)] = {search_, nodes_[at(node)].passed, -1, -1, node};
        make_even(node);
    }
    void make_even(std::int32_t node) {
        nodes_[at(node)].is_even = true;
        queue_.push_back(node);
    }

    std::int32_t base(std::int32_t node) {
        while (nodes_[at(node)].base != node) {
            std::int32_t &next = nodes_[at(node)].base;
            node = next = nodes_[at(next)].base;
        }
        return node;
    }
    // Of a base the next one on the way to the root; -1: it is that.
    std::int32_t above(std::int32_t base_node) {
        return base_node == base(root_) ? -1 : base(nodes_[at(graph_.partner(base_node))].from);
    }
    std::int32_t common(std::int32_t node, std::int32_t other) {
        ++ways_;
        for (std::int32_t x = base(node), y = base(other);; std::swap(x, y)) {
            if (x == -1) continue;
            if (std::exchange(nodes_[at(x)].passed, ways_) == ways_) return x;
            x = above(x);
        }
    }
    void shrink(std::int32_t node, std::int32_t top) {
        for (std::int32_t x = base(node); x != top;) {
            const std::int32_t next = above(x), odd = graph_.partner(x);
            nodes_[at(x)].base = nodes_[at(odd)].base = top;
            if (!nodes_[at(odd)].is_even) make_even(odd);
            x = next;
        }
    }

    const TwoCopies &graph_;
    std::vector<Node> nodes_;
    std::vector<std::int32_t> queue_; // the even ones
    std::int32_t root_ = -1, search_ = 0, ways_ = 0;
    std::int64_t left_;
    PolledSteps steps_;
};

// Whether lines have so many others each that what an entry leaves, and of an odd number a loop, has a
// perfect matching (Dirac, Proc. London Math. Soc. 2, 1952: a circle of all lines).
bool are_close(const Pattern &graph) {
    std::vector<std::int64_t> others(at(graph.rows), 0);
    std::int64_t loops = 0;
    for (std::int32_t i = 0; i < graph.rows; ++i)
        for (const std::int32_t j : graph.row(i)) {
            loops += i == j;
            others[at(i)] += i != j;
            others[at(j)] += i != j;
        }
    constexpr std::int64_t enough_loops = 3; // of which an entry leaves one
    return (loops == 0 || loops >= enough_loops) &&
           std::ranges::all_of(others, [&](std::int64_t k) { return 2 * k >= graph.rows + 3; });
}

} // namespace

std::vector<char> entries_in_matchings(const Pattern &graph, const Matching &perfect) {
    constexpr std::int64_t most_steps = 4'000'000, of_entry = 100;
    if (are_close(graph)) return std::vector<char>(at(graph.nnz()), 1);
    const TwoCopies copies(graph, perfect);
    EvenPaths paths(copies, most_steps + of_entry * (graph.nnz() + graph.rows));
    std::vector<char> is_used(at(graph.nnz()), 0), is_known(at(graph.nnz()), 0);
    std::vector<std::int32_t> wanted(at(copies.count()), -1); // the entry to a node, of the line at work
    for (std::int32_t line = 0; line < graph.rows; ++line) {
        std::int32_t unknown = 0;
        for (const std::int32_t entry : copies.on(line)) {
            const std::int32_t other = copies.other(line, entry);
            if (other == copies.partner(line)) is_used[at(entry)] = is_known[at(entry)] = 1;
            if (is_known[at(entry)]) continue;
            wanted[at(other)] = entry;
            ++unknown;
        }
        if (unknown == 0) continue;
        const bool is_told = paths.walk(line, [&](std::int32_t node) {
            const std::int32_t entry = std::exchange(wanted[at(node)], -1);
            if (entry == -1) return false;
            is_used[at(entry)] = 1;
            paths.along_way_to(node,
                               [&](std::int32_t on_way) { is_used[at(on_way)] = is_known[at(on_way)] = 1; });
            return --unknown == 0;
        });
        for (const std::int32_t entry : copies.on(line)) {
            wanted[at(copies.other(line, entry))] = -1;
            is_known[at(entry)] |= is_told;
        }
        if (!is_told) break;
    }
    for (std::size_t k = 0; k < is_used.size(); ++k) is_used[k] = is_used[k] || !is_known[k];
    return is_used;
}

template <class Value> BlockOf<Value> gallai_edmonds(BlockOf<Value> graph, const Matching &perfect) {
    const std::vector<char> is_used = entries_in_matchings(graph.pattern, perfect);
    if (std::count(is_used.begin(), is_used.end(), 0) == 0) return graph;
    std::vector<GraphEntry<Value>> left;
    std::size_t k = 0;
    for_entries(graph, [&](std::int32_t i, std::int32_t j, Value &value) {
        if (is_used[k++]) left.push_back({i, j, std::move(value)});
    });
    return block_of(graph.n(), graph.n(), true, std::move(left));
}

template Block gallai_edmonds(Block, const Matching &);
template ExactBlock gallai_edmonds(ExactBlock, const Matching &);

} // namespace libperm
