// A plan as it travels: what was chosen, and what was predicted of it. All that follows from these, programs
// above all, is made again where it arrives, so that no bytes can make a program that does not fit its block.
#pragma once

#include "lib/plan/plan.hpp"
#include "preprocess/tree_shape.hpp"

namespace libperm {

struct SavedOrder { // of a frontier program
    bool transposed = false;
    std::vector<std::int32_t> rows;                                // none: there is no program
    std::vector<double> states_bound, expansions_bound, reachable; // as they are: libraries differ in exp2
};

struct SavedPart { // of a tree; `parts` that follow lie in it
    std::int32_t begin = 0, loop = 0, end = 0, parts = 0;
};

struct SavedTree {
    bool transposed = false;
    std::vector<std::int32_t> columns;
    std::vector<SavedPart> parts; // the root first
    std::int32_t segment_bits = 0;
    double flops_per_subset = 0;
    std::uint64_t rare = 0;
};

struct SavedBlock {
    BlockLines lines;
    bool has_ryser = false, ryser_transposed = false, ryser_counted = false;
    SavedOrder sparse, dense;
    bool has_kernel = false;
    GrayEngine kernel = GrayEngine::tree;
    SavedTree tree; // if that is it; the others follow from the pattern
    std::vector<Candidate> candidates;
    std::int32_t chosen = -1;
    std::string why;
    perm_status refusal = PERM_OK;
    std::string refusal_text;
};

struct SavedGroup {
    BlockGroup group;
    BlockCount count;
};

struct SavedPlan {
    Plan plan;                         // without what is below
    std::vector<InputPattern> written; // as the caller did: one or none
    std::vector<SavedGroup> groups;
    std::vector<SavedBlock> blocks; // by their lines: no order of keys in memory
    std::vector<Pattern> expanded;
    std::int64_t costliest = -1; // in blocks
};

SavedPlan saved(const Plan &plan);

// What its results follow from alone: no texts, costs, or engines that no execution will come to.
SavedPlan without_predictions(SavedPlan saved);

// With the options that the saved plan has. Throws DamagedField for what no plan looks like.
Plan restored(SavedPlan saved, const Options &options);

// The same for parts of it (lib/saved/check.cpp).
void check_plan(const SavedPlan &saved);
void check_lines(const BlockLines &lines);
void check_order(const SavedOrder &order, std::int32_t n);
TreeShape checked_shape(const SavedTree &tree,
                        const Pattern &columns); // `columns`: of what is summed, as rows
void check_choice(const BlockPlan &block);

} // namespace libperm
