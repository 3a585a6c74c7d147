// A plan as it travels: what was chosen, and what was predicted of it. All that follows from these, programs
// above all, is made again where it arrives, so that no bytes can make a program that does not fit its block.
#pragma once

#include "lib/plan/plan.hpp"

namespace libperm {

struct SavedEnginePlan { // of candidates that share it
    Engine engine = Engine::none;
    int form = 0;
    std::string bytes;
};

struct SavedBlock {
    BlockLines lines;
    std::vector<SavedEnginePlan> plans;
    std::vector<Candidate> candidates; // without their plans
    std::vector<std::int32_t> plan_of; // each candidate's, in `plans`; -1: it has none
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

// Without predictions: what its results follow from alone, and no texts, costs, or engines that no execution
// will come to.
SavedPlan saved(const Plan &plan, bool with_predictions = true);

// With the options that the saved plan has. Throws DamagedField for what no plan looks like.
Plan restored(SavedPlan saved, const Options &options);

// The same for parts of it (lib/saved/check.cpp).
void check_plan(const SavedPlan &saved);
void check_lines(const BlockLines &lines);
bool says_something(const std::string &text);
void check_choice(const BlockPlan &block);

} // namespace libperm
