// What is saved of a plan: its content, the fields that it is written as, and what holds of every one.
// Bytes with a checksum of their own may say anything.
#pragma once

#include "lib/base/archive.hpp"
#include "lib/plan/engines.hpp"
#include "lib/plan/plan.hpp"
#include "lib/run/outcome_bytes.hpp"

namespace libperm {

struct SavedEnginePlan { // of candidates that share it
    Engine engine = Engine::none;
    int form = 0;
    std::string bytes;
};

struct SavedBlock {
    BlockLines lines;
    BlockPlan plan; // whose candidates are without their plans
    std::vector<SavedEnginePlan> plans;
    std::vector<std::int32_t> plan_of; // each candidate's, in `plans`; -1: it has none
};

struct SavedPlan {
    Plan plan;                      // without what is below
    std::vector<SavedBlock> blocks; // by their lines: no order of keys in memory
    std::vector<Pattern> expanded;
    std::int64_t costliest = -1; // in blocks
};

// Without predictions: what its results follow from alone, and no texts, costs, or engines that no execution
// will come to.
SavedPlan saved(const Plan &plan, bool with_predictions = true);

// With the options that the saved plan has. Throws DamagedField for what no plan looks like.
Plan restored(SavedPlan saved, const Options &options);

void check_lines(const BlockLines &lines); // of a block: throws the same

// What of a saved plan is written, and in which order; the same functions read it. Nothing that is read is
// trusted (lib/base/archive.hpp).

// One that computes.
template <class Archive> void engine(Archive &ar, Engine &x) {
    engine_field(ar, x);
    require(computes_blocks(x), "an engine");
}

template <class Archive> void serialize(Archive &ar, Pattern &a) {
    ar(a.rows, a.cols, a.row_ptr, a.col);
    flag(ar, a.one_sided);
}
template <class Archive> void line_order(Archive &ar, Separable &x) {
    std::uint64_t above = x.above, below = x.below, band_above = x.band.above, band_below = x.band.below;
    std::vector<std::uint64_t> rows(x.order.rows.begin(), x.order.rows.end()),
        cols(x.order.cols.begin(), x.order.cols.end());
    ar(above, below, band_above, band_below, rows, cols);
    x = {{{rows.begin(), rows.end()}, {cols.begin(), cols.end()}}, above, below, {band_above, band_below}};
}
template <class Archive> void serialize(Archive &ar, Structure &x) {
    Background &b = x.background;
    ar(b.beside, b.base_rows, b.base_cols, b.row_class, b.col_class, b.col_of_row, b.row_of_col,
       x.low_rank.rows, x.low_rank.cols, x.nested, x.integers);
    line_order(ar, x.separable);
    flag(ar, x.nearly_rank_one);
}
template <class Archive> void serialize(Archive &ar, BlockLines &lines) {
    ar(lines.pattern, lines.kinds.of_row, lines.kinds.of_col, lines.structure);
}

template <class Archive> void serialize(Archive &ar, InputPattern &input) {
    ar(input.pattern, input.source, input.free_rows, input.free_columns);
    choice(ar, input.value_type, PERM_VALUE_TEXT);
    flags(ar, input.repeats, input.multiplied, input.row_weights, input.col_weights);
}

// Those that shape the plan or its results: the others are the machine's and the caller's.
template <class Archive> void serialize(Archive &ar, Options &o) {
    engine_field(ar, o.engine);
    choice(ar, o.function, MatrixFunction::loop_hafnian);
    choice(ar, o.device, Device::gpu);
    choice(ar, o.precision, Precision::mpfr);
    ar(o.mpfr_bits, o.modulus, o.tolerance, o.seed);
    Passes &p = o.passes;
    flags(ar, p.matching, p.dulmage_mendelsohn, p.degree_1, p.degree_2, p.forbert_marx, p.merging, p.scaling,
          p.periodic, p.structure, o.decompose_as_published, o.equal_chunks);
}

template <class Archive> void serialize(Archive &ar, Reductions &r) {
    ar(r.dropped, r.blocks, r.degree_1, r.degree_2, r.expansions, r.zeros, r.merged);
}

template <class Archive> void serialize(Archive &ar, std::pair<BlockGroup, BlockCount> &x) {
    auto &[group, count] = x;
    ar(group.n, count.blocks);
    engine(ar, group.engine);
    form_field(ar, group.engine, group.form);
    amounts(ar, count.nnz, count.work, count.seconds);
}

template <class Archive> void serialize(Archive &ar, Cost &c) {
    amounts(ar, c.subsets, c.states, c.peak_states, c.operations, c.bytes, c.compile_seconds,
            c.serial_seconds);
}
template <class Archive> void cut_field(Archive &ar, Candidate &c) {
    const EngineInfo &engine = info_of(c.engine);
    if constexpr (Archive::is_loading::value) {
        if (engine.load_cut) return engine.load_cut(ar, c);
    } else if (engine.save_cut) {
        return engine.save_cut(ar, c);
    }
    std::uint64_t pieces = 0; // of an engine that has no cuts
    ar(pieces);
    require(pieces == 0, "slices");
}
template <class Archive> void serialize(Archive &ar, Candidate &c) {
    engine(ar, c.engine);
    form_field(ar, c.engine, c.form);
    flags(ar, c.transposed, c.on_gpu, c.lacks_gpu, c.at_least, c.second);
    status(ar, c.refusal);
    cut_field(ar, c);
    ar(c.cost, c.cost.bytes_per_state);
    text_field(ar, c.why_not);
}

template <class Archive> void serialize(Archive &ar, SavedEnginePlan &plan) {
    engine(ar, plan.engine);
    form_field(ar, plan.engine, plan.form);
    ar(plan.bytes);
}

template <class Archive> void serialize(Archive &ar, SavedBlock &block) {
    BlockPlan &plan = block.plan;
    ar(block.lines, block.plans, plan.candidates, block.plan_of, plan.chosen);
    status(ar, plan.refusal);
    text_fields(ar, plan.why, plan.refusal_text);
}

template <class Archive> void serialize(Archive &ar, SavedPlan &saved) {
    Plan &plan = saved.plan;
    std::vector<InputPattern> written; // as the caller did: one or none
    if (plan.input.written) written.push_back(*plan.input.written);
    std::vector<std::pair<BlockGroup, BlockCount>> groups(plan.groups.begin(), plan.groups.end());
    ar(plan.options, plan.input, written);
    flags(ar, plan.numbers.complex, plan.values_known, plan.nonnegative, plan.tape_transposed);
    ar(plan.tape_rows);
    amounts(ar, plan.entry_bits, plan.sum_n, plan.sum_nnz, plan.serial_seconds, plan.gpu_seconds, plan.bytes);
    status(ar, plan.refusal);
    text_field(ar, plan.structure);
    text_field(ar, plan.refusal_text);
    ar(plan.reductions, plan.blocks, plan.distinct, groups, saved.blocks, saved.expanded, saved.costliest);
    if constexpr (!Archive::is_loading::value) return;
    require(written.size() <= 1, "the matrix as it was written");
    if (!written.empty()) plan.input.written = std::make_shared<const InputPattern>(std::move(written[0]));
    plan.groups = {groups.begin(), groups.end()};
}

} // namespace libperm
