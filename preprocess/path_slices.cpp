// Slices of a path: a column is used before a cut of the order of rows, or after it.
#include "preprocess/frontier_state.hpp"
#include "preprocess/index.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/pascal.hpp"
#include "preprocess/slice_cuts.hpp"

#include <algorithm>
#include <cmath>

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

// What follows from the terms. The states of a slice are among those of the whole, so their bounds hold too.
void count_again(FrontierProgram &program) {
    const FrontierSide side = side_of(program);
    const Log2Binomial log2_binomial(side.rows.rows);
    FrontierState frontier(side, log2_binomial);
    std::int32_t width = 0, used = 0;
    for (std::size_t row = 0; row < program.steps.size(); ++row) {
        FrontierStep &step = program.steps[row];
        step.width_before = width;
        step.used_before = used++;
        for (const FrontierTerm &t : step.terms) width += t.opens ? t.multiplicity : 0;
        for (const FrontierTerm &t : step.terms) {
            width -= t.closes ? t.multiplicity : 0;
            used -= t.closes ? t.multiplicity : 0;
        }
        step.width_after = width;
        step.used_after = used;
        const FrontierStepCost cost = frontier.advance(static_cast<std::int32_t>(row));
        step.states_bound = std::min(step.states_bound, std::exp2(std::min(cost.log2_states_after, 1000.0)));
        step.expansions_bound = std::min(step.expansions_bound, cost.expansions);
    }
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
    if (!slice.empty()) count_again(part);
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

} // namespace libperm
