#include "preprocess/branch_program.hpp"

#include "preprocess/branch_price.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

// MetLines are numbered rows first.
struct MetLine {
    std::int32_t line;
    std::int32_t count; // of its entries below a node
};
using MetLines = std::vector<MetLine>; // ascending

struct LineEntry {
    std::int32_t other; // line
    std::int64_t entry;
};

// Which lines stand in the states of a list, where, and in how many states.
struct Layout {
    std::vector<std::pair<std::int32_t, std::int32_t>> slot_of; // line, slot; ascending
    std::int32_t ahead = 0; // rows that are matched for good, less such columns

    std::int32_t slot(std::int32_t line) const {
        const auto place = std::lower_bound(slot_of.begin(), slot_of.end(), std::pair{line, -1});
        return place != slot_of.end() && place->first == line ? place->second : -1;
    }
};

class Builder {
  public:
    Builder(const BranchSource &source)
        : pattern_(source.pattern),
          rows_(pattern_.one_sided ? 0 : pattern_.rows),
          pruned_(pruned(source)),
          tree_(pruned_.tree),
          steps_(),
          entries_(at(pattern_.lines())),
          log2_states_(pattern_.lines(), sides_of(pattern_)) {
        for (std::int32_t i = 0; i < pattern_.rows; ++i) {
            std::int64_t entry = pattern_.row_begin(i) - 1;
            for (const std::int32_t j : pattern_.row(i)) {
                if (!source.keeps(++entry)) continue;
                const std::int32_t other = pattern_.line_of_column(j);
                entries_[at(i)].push_back({other, entry});
                if (other != i) entries_[at(other)].push_back({i, entry});
            }
        }
    }

    BranchProgram build() {
        if (find_lists()) {
            order_walk();
            walk();
        }
        return std::move(built_);
    }

  private:
    bool is_leaf(std::int32_t node) const { return at(node) < tree_.leaves.size(); }
    const std::array<std::int32_t, 2> &children(std::int32_t node) const {
        return tree_.joins[at(node) - tree_.leaves.size()];
    }
    bool is_step(std::int32_t node) const { // a leaf is added to the list of the other child
        return !is_leaf(node) && (is_leaf(children(node)[0]) || is_leaf(children(node)[1]));
    }
    bool is_row(std::int32_t line) const { return line < rows_; }
    std::int32_t degree(std::int32_t line) const {
        return static_cast<std::int32_t>(entries_[at(line)].size());
    }

    // The lines that wait once a leaf's entries are used.
    MetLines lines_of(const BranchLeaf &leaf) const {
        MetLines lines;
        if (leaf.kind == BranchLeaf::Kind::entry) {
            for (const std::int32_t line : libperm::lines_of(pattern_, leaf.entry))
                if (lines.empty() || lines.back().line != line) lines.push_back({line, 1});
            return lines;
        }
        for (const LineEntry &e : entries_[at(line_of(leaf))]) lines.push_back({e.other, 1});
        return lines;
    }
    std::int32_t line_of(const BranchLeaf &leaf) const {
        return leaf.kind == BranchLeaf::Kind::row ? leaf.index : rows_ + leaf.index;
    }

    // Of each node how many states there can be, and the middle set while its parent needs it. False: one is
    // too wide for the program, whatever else there is; so nothing here takes longer than the width allows.
    bool find_lists() {
        states_.assign(at(tree_.nodes()), 1);
        std::vector<MetLines> lines(at(tree_.nodes()));
        std::vector<std::int32_t> ahead(at(tree_.nodes()), 0);
        for (std::int32_t node = 0; node < tree_.nodes(); ++node) {
            MetLines &all = lines[at(node)];
            if (is_leaf(node)) {
                const BranchLeaf &leaf = tree_.leaves[at(node)];
                all = lines_of(leaf);
                ahead[at(node)] = leaf.kind == BranchLeaf::Kind::row      ? 1
                                  : leaf.kind == BranchLeaf::Kind::column ? -1
                                                                          : 0;
            } else {
                const auto [x, y] = children(node);
                all = united(std::exchange(lines[at(x)], {}), std::exchange(lines[at(y)], {}));
                ahead[at(node)] = ahead[at(x)] + ahead[at(y)];
            }
            steps_.take(static_cast<std::int64_t>(16 + all.size()));
            std::int32_t rows = 0;
            std::erase_if(all, [&](const MetLine &l) {
                const bool closed = l.count == degree(l.line);
                if (closed) ahead[at(node)] += is_row(l.line) ? 1 : -1;
                rows += !closed && is_row(l.line);
                return closed;
            });
            built_.feasible = is_leaf(node) || std::ssize(all) <= widest_list;
            if (!built_.feasible) return false;
            states_[at(node)] = states_of(static_cast<std::int32_t>(all.size()), rows + ahead[at(node)]);
        }
        return true;
    }
    static MetLines united(const MetLines &x, const MetLines &y) {
        MetLines all;
        all.reserve(x.size() + y.size());
        auto p = x.begin(), q = y.begin();
        while (p != x.end() || q != y.end()) {
            if (q == y.end() || (p != x.end() && p->line < q->line))
                all.push_back(*p++);
            else if (p == x.end() || q->line < p->line)
                all.push_back(*q++);
            else
                all.push_back({p->line, p++->count + q++->count});
        }
        return all;
    }

    // Columns in a state and rows not in it are `chosen` of its lines.
    double states_of(std::int32_t lines, std::int32_t chosen) const {
        return std::exp2(std::min(log2_states_(lines, chosen), 1000.0));
    }

    // Which child of each join is walked first: so that the fewest states are held at once. Either child
    // leaves its list behind, so the one of the larger peak less list comes first (Liu, ACM Trans. Math.
    // Softw. 12 (1986), for pebbles). A join holds both lists twice more, to sort them.
    void order_walk() {
        std::vector<double> peak(states_);
        swapped_.assign(tree_.joins.size(), false);
        for (auto node = static_cast<std::int32_t>(tree_.leaves.size()); node < tree_.nodes(); ++node) {
            const auto [x, y] = children(node);
            const double sx = states_[at(x)], sy = states_[at(y)], made = states_[at(node)];
            if (is_step(node)) {
                const bool y_grows = is_leaf(x) && !is_leaf(y);
                peak[at(node)] = std::max(peak[at(y_grows ? y : x)], (y_grows ? sy : sx) + made);
                continue;
            }
            const double first_x = std::max(peak[at(x)], sx + peak[at(y)]);
            const double first_y = std::max(peak[at(y)], sy + peak[at(x)]);
            swapped_[at(node) - tree_.leaves.size()] = first_y < first_x;
            peak[at(node)] =
                std::max(std::min(first_x, first_y), 2 * (sx + sy) + 4 * std::max(sx, sy) + made);
        }
    }

    // Children before their parents, and no deeper recursion than none.
    void walk() {
        std::vector<std::pair<std::int32_t, bool>> to_do{{tree_.nodes() - 1, false}};
        while (!to_do.empty() && built_.feasible) {
            const auto [node, below_is_done] = to_do.back();
            to_do.pop_back();
            if (is_leaf(node)) {
                begin_branch(node);
                add_step(node, tree_.leaves[at(node)]);
                continue;
            }
            auto [x, y] = children(node);
            if (swapped_[at(node) - tree_.leaves.size()]) std::swap(x, y);
            if (is_step(node)) {
                const std::int32_t leaf = is_leaf(y) ? y : x, other = is_leaf(y) ? x : y;
                if (below_is_done) {
                    add_step(node, tree_.leaves[at(leaf)]);
                } else {
                    to_do.push_back({node, true});
                    to_do.push_back({other, false});
                }
            } else if (below_is_done) {
                add_join(node);
            } else {
                to_do.push_back({node, true});
                to_do.push_back({y, false});
                to_do.push_back({x, false});
            }
        }
        if (!waiting_.empty()) finish_branch();
    }

    FrontierProgram &program() { return built_.program; }

    void finish_branch() {
        program().branches.back().last = static_cast<std::int32_t>(program().steps.size());
    }

    void begin_branch(std::int32_t node) {
        if (!program().branches.empty()) finish_branch();
        FrontierBranch branch;
        branch.first = branch.last = static_cast<std::int32_t>(program().steps.size());
        program().branches.push_back(std::move(branch));
        waiting_.push_back({static_cast<std::int32_t>(program().branches.size()) - 1, {}, {}, node});
    }

    struct Waiting { // a branch that is not joined yet
        std::int32_t branch;
        Layout layout;
        MetLines lines;
        std::int32_t node; // where it began
    };

    // The lowest slot that no line of the list has.
    static std::int32_t free_slot(const std::vector<bool> &taken) {
        return static_cast<std::int32_t>(std::find(taken.begin(), taken.end(), false) - taken.begin());
    }

    struct Met { // a line of a step
        std::int32_t line, slot;
        bool opens, closes;
    };

    Met meet(Waiting &list, std::vector<bool> &taken, std::int32_t line) {
        auto place = std::lower_bound(list.lines.begin(), list.lines.end(), line,
                                      [](const MetLine &l, std::int32_t to) { return l.line < to; });
        if (place == list.lines.end() || place->line != line) place = list.lines.insert(place, {line, 0});
        Met met{line, list.layout.slot(line), false, ++place->count == degree(line)};
        met.opens = met.slot < 0;
        if (met.opens) {
            met.slot = free_slot(taken);
            if (at(met.slot) == taken.size()) taken.push_back(true);
            taken[at(met.slot)] = true;
            auto &slots = list.layout.slot_of;
            slots.insert(std::lower_bound(slots.begin(), slots.end(), std::pair{line, met.slot}),
                         {line, met.slot});
            program().slots = std::max(program().slots, met.slot + 1);
        }
        return met;
    }

    // A state's share in `chosen`: of a column in it, of a row not in it.
    std::int32_t chosen(std::int32_t line, bool in_state) const { return is_row(line) != in_state ? 1 : 0; }

    struct Extent {
        std::int32_t lines, chosen;
    };
    Extent extent_of(const Layout &layout) const {
        const auto rows = std::count_if(layout.slot_of.begin(), layout.slot_of.end(),
                                        [&](const auto &l) { return is_row(l.first); });
        return {static_cast<std::int32_t>(layout.slot_of.size()),
                static_cast<std::int32_t>(rows) + layout.ahead};
    }

    // States in which the lines that were met before can take what a term asks for: those of the term are
    // free, the others are matched where they close. `term` holds the lines that it takes.
    double sources(const Extent &before, const std::vector<Met> &lines,
                   std::initializer_list<std::size_t> term) const {
        Extent rest = before;
        for (std::size_t k = 0; k < lines.size(); ++k) {
            const Met &met = lines[k];
            const bool taken = std::find(term.begin(), term.end(), k) != term.end();
            if (!taken && !met.closes) continue;
            if (met.opens) {
                if (!taken) return 0; // it closes, and nothing matches it
                continue;
            }
            --rest.lines;
            rest.chosen -= chosen(met.line, !taken);
        }
        return states_of(rest.lines, rest.chosen);
    }

    void add_step(std::int32_t node, const BranchLeaf &leaf) {
        Waiting &list = waiting_.back();
        steps_.take(static_cast<std::int64_t>(64 + list.lines.size()));
        FrontierStep step;
        step.row = leaf.index;
        step.node = pruned_.node[at(node)];
        const Extent before = extent_of(list.layout);
        step.width_before = before.lines;
        step.used_before = before.chosen;
        std::vector<bool> taken;
        for (const auto &[line, slot] : list.layout.slot_of) {
            if (at(slot) >= taken.size()) taken.resize(at(slot) + 1, false);
            taken[at(slot)] = true;
        }
        std::vector<Met> lines;
        for (const MetLine &l : lines_of(leaf)) lines.push_back(meet(list, taken, l.line));
        double expansions = 0;
        if (leaf.kind == BranchLeaf::Kind::entry) {
            add_entry_terms(step, leaf.entry, lines);
            expansions = sources(before, lines, {}) + sources(before, lines, {0, 1});
        } else {
            add_line_terms(step, leaf, lines);
            for (std::size_t k = 0; k < lines.size(); ++k) expansions += sources(before, lines, {k});
            list.layout.ahead += leaf.kind == BranchLeaf::Kind::row ? 1 : -1;
        }
        for (const Met &met : lines)
            if (met.closes) close(list, met.line);
        const Extent after = extent_of(list.layout);
        step.width_after = after.lines;
        step.used_after = after.chosen;
        step.states_bound = states_of(after.lines, after.chosen);
        step.expansions_bound = std::max(1.0, expansions);
        program().steps.push_back(std::move(step));
    }

    static void add_entry_terms(FrontierStep &step, std::int64_t entry, const std::vector<Met> &lines) {
        const Met &row = lines.front(), &col = lines.back(); // of a loop the same
        FrontierTerm none{};
        none.entry = -1;
        none.slot = col.slot;
        none.other_slot = row.slot;
        none.opens = false;
        none.width = none.multiplicity = 0;
        none.closes = col.closes;
        none.other_closes = row.closes;
        FrontierTerm used = none;
        used.entry = entry;
        used.width = used.multiplicity = 1;
        used.opens = col.opens;
        step.terms = {none, used};
    }

    void add_line_terms(FrontierStep &step, const BranchLeaf &leaf, const std::vector<Met> &lines) const {
        for (std::size_t k = 0; k < lines.size(); ++k) {
            FrontierTerm t{};
            t.entry = entries_[at(line_of(leaf))][k].entry;
            t.slot = lines[k].slot;
            t.width = t.multiplicity = 1;
            t.opens = lines[k].opens;
            t.closes = lines[k].closes;
            step.terms.push_back(t);
        }
        std::sort(step.terms.begin(), step.terms.end(),
                  [](const FrontierTerm &x, const FrontierTerm &y) { return x.slot < y.slot; });
    }

    void close(Waiting &list, std::int32_t line) {
        std::erase_if(list.lines, [&](const MetLine &l) { return l.line == line; });
        std::erase_if(list.layout.slot_of, [&](const auto &l) { return l.first == line; });
        list.layout.ahead += is_row(line) ? 1 : -1;
    }

    // Runs of (from, to) that move together, each inside a word at both ends.
    static std::vector<BitRun> runs_of(std::vector<std::pair<std::int32_t, std::int32_t>> moves) {
        std::sort(moves.begin(), moves.end());
        std::vector<BitRun> runs;
        for (const auto &[from, to] : moves) {
            if (!runs.empty()) {
                BitRun &last = runs.back();
                if (last.from + last.width == from && last.to + last.width == to && from % 64 != 0 &&
                    to % 64 != 0) {
                    ++last.width;
                    continue;
                }
            }
            runs.push_back({from, to, 1});
        }
        return runs;
    }

    void add_join(std::int32_t node) {
        finish_branch();
        Waiting second = std::move(waiting_.back());
        waiting_.pop_back();
        Waiting first = std::move(waiting_.back());
        waiting_.pop_back();
        const auto both = [](const Layout &x, const Layout &y) {
            return std::count_if(x.slot_of.begin(), x.slot_of.end(),
                                 [&](const auto &l) { return y.slot(l.first) >= 0; });
        };
        // The longer lists of a pattern are the inner ones; which was walked first has no part in it.
        const auto shared = both(first.layout, second.layout);
        const auto of_first = std::ssize(first.layout.slot_of) - shared,
                   of_second = std::ssize(second.layout.slot_of) - shared;
        if (of_first > of_second || (of_first == of_second && first.node > second.node))
            std::swap(first, second);
        steps_.take(static_cast<std::int64_t>(256 + 4 * (first.lines.size() + second.lines.size())));

        FrontierBranch branch;
        branch.first = branch.last = static_cast<std::int32_t>(program().steps.size());
        branch.joined = {first.branch, second.branch};
        branch.node = pruned_.node[at(node)];
        Waiting joined{static_cast<std::int32_t>(program().branches.size()),
                       {},
                       united(first.lines, second.lines),
                       node};
        joined.layout.ahead = first.layout.ahead + second.layout.ahead;
        arrange(branch.join, joined, {&first, &second});
        built_.feasible = branch.join.closing + branch.join.staying <= widest_shared;
        program().branches.push_back(std::move(branch));
        waiting_.push_back(std::move(joined));
    }

    // Lines of the two sides of a join, by their slots.
    struct JoinLines {
        struct Shared {
            std::int32_t slot, line; // as they stand in the first
            bool closes;
        };
        std::vector<Shared> shared;                                              // closing ones last
        std::array<std::vector<std::pair<std::int32_t, std::int32_t>>, 2> alone; // slot, line
    };

    JoinLines lines_of(const Waiting &joined, const std::array<Waiting *, 2> &sides) const {
        JoinLines of;
        for (std::size_t s = 0; s < 2; ++s) {
            for (const auto &[line, slot] : sides[s]->layout.slot_of) {
                if (sides[1 - s]->layout.slot(line) < 0)
                    of.alone[s].push_back({slot, line});
                else if (s == 0)
                    of.shared.push_back({slot, line, is_closed(joined.lines, line)});
            }
            std::sort(of.alone[s].begin(), of.alone[s].end());
        }
        std::sort(of.shared.begin(), of.shared.end(), [](const auto &x, const auto &y) {
            return x.closes != y.closes ? y.closes : x.slot < y.slot;
        });
        return of;
    }

    void arrange(FrontierJoin &join, Waiting &joined, const std::array<Waiting *, 2> &sides) {
        using Shared = JoinLines::Shared;
        const JoinLines of = lines_of(joined, sides);
        const auto &[shared, alone] = of;
        join.closing = static_cast<std::int32_t>(
            std::count_if(shared.begin(), shared.end(), [](const Shared &l) { return l.closes; }));
        join.staying = static_cast<std::int32_t>(shared.size()) - join.closing;
        for (std::size_t s = 0; s < 2; ++s) join.alone[s] = static_cast<std::int32_t>(alone[s].size());
        std::vector<std::pair<std::int32_t, std::int32_t>> &slots = joined.layout.slot_of;
        for (std::size_t s = 0; s < 2; ++s) {
            std::vector<std::pair<std::int32_t, std::int32_t>> moves;
            std::int32_t place = 0;
            for (const auto &[slot, line] : alone[s]) {
                slots.push_back({line, place + (s == 0 ? join.alone[1] : 0)});
                if (is_row(line)) join.rows[s].push_back(place);
                moves.push_back({slot, place++});
            }
            for (const Shared &l : shared) {
                if (is_row(l.line)) join.rows[s].push_back(place);
                moves.push_back({sides[s]->layout.slot(l.line), place++});
            }
            join.runs[s] = runs_of(std::move(moves));
            program().slots = std::max(program().slots, place);
        }
        count_products(join, sides, of);
        std::int32_t place = join.alone[0] + join.alone[1];
        for (const Shared &l : shared)
            if (!l.closes) slots.push_back({l.line, place++});
        program().slots = std::max(program().slots, place);
        std::sort(slots.begin(), slots.end());
        for (const Shared &l : shared)
            if (l.closes) {
                std::erase_if(joined.lines, [&](const MetLine &x) { return x.line == l.line; });
                joined.layout.ahead += is_row(l.line) ? 1 : -1;
            }
        const Extent after = extent_of(joined.layout);
        join.states_bound = states_of(after.lines, after.chosen);
        join.used = after.chosen;
    }

    bool is_closed(const MetLines &lines, std::int32_t line) const {
        const auto place = std::lower_bound(lines.begin(), lines.end(), line,
                                            [](const MetLine &l, std::int32_t to) { return l.line < to; });
        return place->count == degree(line);
    }

    // Pairs of states: patterns of the shared lines by what they leave to be chosen of the others on both
    // sides, times the choices of these.
    void count_products(FrontierJoin &join, const std::array<Waiting *, 2> &sides,
                        const JoinLines &of) const {
        const std::size_t n = at(join.closing + join.staying) + 1;
        std::vector<double> ways(n * n, 0), next(n * n);
        ways[0] = 1;
        for (const auto &[slot, line, closes] : of.shared) {
            std::fill(next.begin(), next.end(), 0);
            const auto add = [&, line = line](bool in_first, bool in_second) {
                const std::size_t x = at(chosen(line, in_first)), y = at(chosen(line, in_second));
                for (std::size_t p = 0; p + x < n; ++p)
                    for (std::size_t q = 0; q + y < n; ++q) next[(p + x) * n + q + y] += ways[p * n + q];
            };
            add(true, false);
            add(false, true);
            if (!closes) add(false, false);
            std::swap(ways, next);
        }
        std::array<std::vector<double>, 2> choices;
        for (std::size_t s = 0; s < 2; ++s) {
            const Extent all = extent_of(sides[s]->layout);
            for (std::size_t x = 0; x < n; ++x)
                choices[s].push_back(states_of(static_cast<std::int32_t>(of.alone[s].size()),
                                               all.chosen - static_cast<std::int32_t>(x)));
        }
        double products = 0, patterns = 0;
        for (std::size_t p = 0; p < n; ++p)
            for (std::size_t q = 0; q < n; ++q) {
                products += ways[p * n + q] * choices[0][p] * choices[1][q];
                if (choices[0][p] > 0 && choices[1][q] > 0) patterns += ways[p * n + q];
            }
        join.products_bound = std::max(1.0, products);
        join.patterns_bound = std::max(1.0, patterns);
    }

    const Pattern &pattern_;
    const std::int32_t rows_;
    const PrunedTree pruned_;
    const BranchDecomposition &tree_;
    PolledSteps steps_;
    std::vector<std::vector<LineEntry>> entries_; // of each line
    const Log2BranchStates log2_states_;
    std::vector<double> states_; // of each node
    std::vector<bool> swapped_;  // the second child of a join is walked first
    std::vector<Waiting> waiting_;
    BranchProgram built_;
};

} // namespace

BranchProgram build_branch_program(std::shared_ptr<const BranchSource> source) {
    BranchProgram built = Builder(*source).build();
    built.program.source = std::move(source);
    return built;
}

BranchProgram build_branch_program(const Pattern &a, BranchDecomposition tree) {
    return build_branch_program(std::make_shared<const BranchSource>(BranchSource{a, std::move(tree), {}}));
}

BranchShape shape_of(const FrontierProgram &program, const BranchDecomposition &tree) {
    BranchShape shape;
    for (const BranchLeaf &leaf : tree.leaves)
        ++(leaf.kind == BranchLeaf::Kind::row      ? shape.rows
           : leaf.kind == BranchLeaf::Kind::column ? shape.columns
                                                   : shape.entries);
    for (const FrontierStep &step : program.steps) shape.width = std::max(shape.width, step.width_after);
    for (const FrontierBranch &branch : program.branches) {
        if (branch.joined[0] < 0) continue;
        ++shape.joins;
        shape.width = std::max(shape.width, branch.join.slots());
        shape.products += branch.join.products_bound;
    }
    return shape;
}

} // namespace libperm
