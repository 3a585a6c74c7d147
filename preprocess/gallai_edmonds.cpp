#include "preprocess/gallai_edmonds.hpp"

#include "preprocess/branch_lines.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <utility>

namespace libperm {
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
        : graph_(graph), nodes_(at(graph.count())), left_(most_steps), steps_() {}

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
    const Pattern &a = graph.pattern;
    BlockOf<Value> out{{a.rows, a.cols, {0}, {}, true}, {}};
    std::size_t k = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        for (const std::int32_t j : a.row(i)) {
            if (is_used[k]) {
                out.pattern.col.push_back(j);
                out.values.push_back(std::move(graph.values[k]));
            }
            ++k;
        }
        out.pattern.row_ptr.push_back(static_cast<std::int64_t>(out.pattern.col.size()));
    }
    return out;
}

template Block gallai_edmonds(Block, const Matching &);
template ExactBlock gallai_edmonds(ExactBlock, const Matching &);

} // namespace libperm
