// Slices of a path: a column is used before a cut of the order of rows, or after it.

#include "preprocess/frontier_slices.hpp"

#include "preprocess/binomials.hpp"
#include "preprocess/branch_program.hpp"
#include "preprocess/index.hpp"
#include "preprocess/matching.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

namespace libperm {
namespace {

// The steps with an entry of the column that is open in the slot after a step.
std::vector<std::int32_t> steps_of(const FrontierProgram &program, std::int32_t step, std::int32_t slot) {
    std::vector<std::int32_t> steps;
    const auto find = [&](std::int32_t t) -> const FrontierTerm * {
        for (const FrontierTerm &term : program.steps[at(t)].terms)
            if (term.slot == slot) return &term;
        return nullptr;
    };
    for (std::int32_t t = step; t >= 0; --t)
        if (const FrontierTerm *term = find(t)) {
            steps.push_back(t);
            if (term->opens) break;
        }
    std::reverse(steps.begin(), steps.end());
    for (std::int32_t t = step + 1; t < std::ssize(program.steps); ++t)
        if (const FrontierTerm *term = find(t)) {
            steps.push_back(t);
            if (term->closes) break;
        }
    return steps;
}

// A counter does not tell its columns apart.
bool is_open_column(const FrontierProgram &program, const FixedLine &fixed) {
    for (std::int32_t t = fixed.cut; t >= 0; --t)
        for (const FrontierTerm &term : program.steps[at(t)].terms)
            if (term.slot == fixed.line) return !term.closes && term.multiplicity == 1;
    return false;
}

void fix(FrontierProgram &program, const FixedLine &fixed) {
    const auto is_of_column = [&fixed](const FrontierTerm &t) { return t.slot == fixed.line; };
    const std::vector<std::int32_t> steps = steps_of(program, fixed.cut, fixed.line);
    const auto cut = std::upper_bound(steps.begin(), steps.end(), fixed.cut);
    const auto lost_begin = fixed.before ? cut : steps.begin(), lost_end = fixed.before ? steps.end() : cut;
    for (auto t = lost_begin; t != lost_end; ++t) std::erase_if(program.steps[at(*t)].terms, is_of_column);
    std::vector<FrontierTerm> &end = program.steps[at(fixed.before ? *(cut - 1) : *cut)].terms;
    FrontierTerm &term = *std::find_if(end.begin(), end.end(), is_of_column);
    if (fixed.before) {
        term.closes = true;
        term.least = term.multiplicity;
    } else {
        term.opens = true;
    }
}

// The rows in the program's order, the columns in the order in which they open.
FrontierSide side_of(const FrontierProgram &program) {
    FrontierSide side;
    std::vector<std::int32_t> column_of(at(program.slots));
    for (const FrontierStep &step : program.steps) {
        for (const FrontierTerm &t : step.terms) {
            if (t.opens) {
                column_of[at(t.slot)] = static_cast<std::int32_t>(side.multiplicity.size());
                side.multiplicity.push_back(t.multiplicity);
            }
            side.rows.col.push_back(column_of[at(t.slot)]);
        }
        ++side.rows.rows;
        side.rows.row_ptr.push_back(std::ssize(side.rows.col));
    }
    side.rows.cols = static_cast<std::int32_t>(side.multiplicity.size());
    side.columns = transpose(side.rows).pattern;
    return side;
}

// No permutation takes all its entries from the program's.
bool is_dead(const FrontierProgram &program) {
    const FrontierSide side = side_of(program);
    Pattern entries; // each column by itself
    std::vector<std::int32_t> first;
    for (const std::int32_t m : side.multiplicity) {
        first.push_back(entries.cols);
        entries.cols += m;
    }
    entries.rows = side.rows.rows;
    for (std::int32_t i = 0; i < entries.rows; ++i) {
        for (const std::int32_t j : side.rows.row(i))
            for (std::int32_t k = 0; k < side.multiplicity[at(j)]; ++k)
                entries.col.push_back(first[at(j)] + k);
        entries.row_ptr.push_back(std::ssize(entries.col));
    }
    return maximum_matching(entries).size < entries.rows;
}

} // namespace

FrontierProgram path_slice(const FrontierProgram &program, const FrontierSlice &slice) {
    FrontierProgram part = program;
    for (const FixedLine &fixed : slice) fix(part, fixed);
    if (slice.empty()) return part;
    std::vector<std::int32_t> rows(part.steps.size());
    std::iota(rows.begin(), rows.end(), 0);
    count_states(part, side_of(part), rows);
    return part;
}

bool has_path_slice(const FrontierProgram &program, const FrontierSlice &slice) {
    FrontierProgram part = program;
    for (const FixedLine &fixed : slice) {
        if (fixed.cut < 0 || fixed.cut >= std::ssize(part.steps) || !is_open_column(part, fixed))
            return false;
        fix(part, fixed);
    }
    return !is_dead(part);
}

// Each state is written, and read for the entries of the next row.
std::vector<SliceTable> path_tables(const FrontierProgram &program, bool ranked) {
    const std::vector<FrontierStep> &steps = program.steps;
    std::vector<SliceTable> tables;
    for (std::size_t t = 0; t < steps.size(); ++t) {
        const FrontierStep &step = steps[t];
        const double states = ranked ? binomial(step.width_after, step.used_after)
                                     : std::max(1.0, step.states_bound * step.reachable);
        const double reads = t + 1 < steps.size() ? static_cast<double>(steps[t + 1].terms.size()) : 0;
        tables.push_back({states, states * (1 + reads), step.width_after, step.used_after});
    }
    return tables;
}

// Cuts of single columns, between two entries each.
std::vector<SliceCut> path_cuts(const FrontierProgram &program, std::int32_t table) {
    std::vector<SliceCut> cuts;
    for (std::int32_t slot = 0; slot < program.slots; ++slot) {
        if (!is_open_column(program, {table, slot, true})) continue;
        const std::vector<std::int32_t> steps = steps_of(program, table, slot);
        for (std::size_t k = 0; k + 1 < steps.size(); ++k) {
            SliceCut &cut = cuts.emplace_back();
            cut.fixed = {steps[k], slot, true};
            for (std::int32_t t = steps.front(); t < steps[k + 1]; ++t) cut.closed[0].push_back({t, false});
            for (std::int32_t t = steps[k]; t < steps.back(); ++t) cut.closed[1].push_back({t, true});
        }
    }
    return cuts;
}

// Slices of a tree: a line is matched below a node, or not.

namespace {

// A tree whose entries are asked for by line.
class Cuttable {
  public:
    explicit Cuttable(const BranchSource &source)
        : source_(source),
          leaf_of_(leaves_of_entries(source)),
          leaves_(at(source.tree.nodes()), 1),
          begin_(leaves_.size(), 0) {
        const BranchDecomposition &tree = source.tree;
        for (std::size_t k = 0; k < tree.joins.size(); ++k) {
            const auto [x, y] = tree.joins[k];
            leaves_[tree.leaves.size() + k] = leaves_[at(x)] + leaves_[at(y)];
        }
        for (std::size_t k = tree.joins.size(); k-- > 0;) {
            const auto [x, y] = tree.joins[k];
            begin_[at(x)] = begin_[tree.leaves.size() + k];
            begin_[at(y)] = begin_[at(x)] + leaves_[at(x)];
        }
    }

    // A node counts as below itself.
    bool is_below(std::int32_t node, std::int32_t other) const {
        return begin_[at(other)] <= begin_[at(node)] &&
               begin_[at(node)] + leaves_[at(node)] <= begin_[at(other)] + leaves_[at(other)];
    }

    // Of each node the entries of a line below it; of the root all.
    std::vector<std::int32_t> entries_below(std::int32_t line) const {
        const BranchDecomposition &tree = source_.tree;
        std::vector<std::int32_t> below(at(tree.nodes()), 0);
        for_entries([&](std::int64_t e, const auto &lines) {
            below[at(leaf_of_[at(e)])] += lines[0] == line || lines[1] == line;
        });
        for (std::size_t k = 0; k < tree.joins.size(); ++k)
            below[tree.leaves.size() + k] = below[at(tree.joins[k][0])] + below[at(tree.joins[k][1])];
        return below;
    }

    // Lines with entries below the node and elsewhere.
    std::vector<std::int32_t> waiting(std::int32_t node) const {
        const auto lines = at(source_.pattern.lines());
        std::vector<std::int32_t> below(lines, 0), all(lines, 0);
        for_entries([&](std::int64_t e, const auto &on) {
            for (const std::int32_t line : on) {
                ++all[at(line)];
                below[at(line)] += is_below(leaf_of_[at(e)], node);
            }
        });
        std::vector<std::int32_t> found;
        for (std::size_t line = 0; line < lines; ++line)
            if (0 < below[line] && below[line] < all[line]) found.push_back(static_cast<std::int32_t>(line));
        return found;
    }

    // The entries that are left when a line is fixed.
    std::vector<bool> kept(const FixedLine &fixed) const {
        std::vector<bool> kept(at(source_.pattern.nnz()), false);
        for_entries([&](std::int64_t e, const auto &lines) {
            const bool is_on = lines[0] == fixed.line || lines[1] == fixed.line;
            kept[at(e)] = !is_on || is_below(leaf_of_[at(e)], fixed.cut) == fixed.before;
        });
        return kept;
    }

  private:
    template <class Body> void for_entries(const Body &body) const {
        const Pattern &a = source_.pattern;
        for (std::int32_t i = 0; i < a.rows; ++i)
            for (std::int64_t e = a.row_begin(i); e < a.row_begin(i + 1); ++e)
                if (source_.keeps(e)) body(e, std::array{i, a.line_of_column(a.col[at(e)])});
    }

    const BranchSource &source_;
    const std::vector<std::int32_t> leaf_of_; // of each entry
    std::vector<std::int32_t> leaves_;        // of each node: so many, from this one on, below it
    std::vector<std::int32_t> begin_;
};

bool is_dead(const BranchSource &source) {
    Pattern left;
    left.rows = source.pattern.rows;
    left.cols = source.pattern.cols;
    for (std::int32_t i = 0; i < left.rows; ++i) {
        for (std::int64_t e = source.pattern.row_begin(i); e < source.pattern.row_begin(i + 1); ++e)
            if (source.keeps(e)) left.col.push_back(source.pattern.col[at(e)]);
        left.row_ptr.push_back(std::ssize(left.col));
    }
    return maximum_matching(left).size < left.rows;
}

// What the two sides of a cut above `node` do to the tables of the nodes in which the line waits.
SliceCut cut_above(const Cuttable &tree, const std::vector<std::int32_t> &below, std::int32_t node,
                   std::int32_t line, bool is_row) {
    SliceCut cut;
    cut.fixed = {node, line, true};
    const std::int32_t all = below.back(), here = below[at(node)];
    for (std::int32_t k = 0; k < std::ssize(below); ++k) {
        if (below[at(k)] == 0 || below[at(k)] == all) continue;
        const auto close = [&](bool before, bool matched) {
            cut.closed[before].push_back({k, matched != is_row});
        };
        if (tree.is_below(k, node)) {
            close(false, false);
            if (below[at(k)] == here) close(true, true);
        } else if (tree.is_below(node, k)) {
            close(true, true);
            if (below[at(k)] == here) close(false, false);
        } else {
            close(true, false);
            if (below[at(k)] == all - here) close(false, true);
        }
    }
    return cut;
}

} // namespace

FrontierProgram branch_slice(const FrontierProgram &program, const FrontierSlice &slice) {
    if (slice.empty()) return program;
    auto source = std::make_shared<BranchSource>(*program.source);
    for (const FixedLine &fixed : slice) source->kept = Cuttable(*source).kept(fixed);
    return build_branch_program(std::move(source)).program;
}

bool has_branch_slice(const FrontierProgram &program, const FrontierSlice &slice) {
    if (!program.source) return false;
    BranchSource source = *program.source;
    for (const FixedLine &fixed : slice) {
        if (fixed.cut < 0 || fixed.cut >= source.tree.nodes()) return false;
        const Cuttable tree(source);
        const std::vector<std::int32_t> waiting = tree.waiting(fixed.cut);
        if (!std::binary_search(waiting.begin(), waiting.end(), fixed.line)) return false;
        source.kept = tree.kept(fixed);
    }
    return !is_dead(source);
}

// A state is sorted before it is joined, which takes as long as some products.
std::vector<SliceTable> branch_tables(const FrontierProgram &program) {
    constexpr double of_state = 10;
    std::vector<SliceTable> tables(at(program.source->tree.nodes()));
    for (const FrontierStep &s : program.steps)
        tables[at(s.node)] = {s.states_bound, s.expansions_bound + of_state * s.states_bound, s.width_after,
                              s.used_after};
    for (const FrontierBranch &b : program.branches)
        if (b.joined[0] >= 0)
            tables[at(b.node)] = {b.join.states_bound, b.join.products_bound + of_state * b.join.states_bound,
                                  b.join.slots(), b.join.used};
    return tables;
}

std::vector<SliceCut> branch_cuts(const FrontierProgram &program, std::int32_t table) {
    const BranchSource &source = *program.source;
    const auto first_join = std::ssize(source.tree.leaves);
    const Cuttable tree(source);
    std::vector<SliceCut> cuts;
    for (const std::int32_t line : tree.waiting(table)) {
        const std::vector<std::int32_t> below = tree.entries_below(line);
        for (std::int32_t node = 0; node < source.tree.nodes(); ++node) {
            const std::int32_t here = below[at(node)];
            if (here == 0 || here == below.back()) continue;
            const bool is_lowest = node < first_join || [&, of = source.tree.joins[at(node - first_join)]] {
                return below[at(of[0])] < here && below[at(of[1])] < here;
            }();
            if (is_lowest) cuts.push_back(cut_above(tree, below, node, line, line < source.pattern.rows));
        }
    }
    return cuts;
}

} // namespace libperm
