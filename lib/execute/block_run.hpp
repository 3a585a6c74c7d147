// One block computed by the engine that its plan chose.
#pragma once

#include "lib/plan/block_plan.hpp"
#include "lib/run/memory_budget.hpp"
#include "lib/run/piece_store.hpp"
#include "lib/run/results.hpp"
#include "preprocess/block.hpp"

namespace libperm {

struct BlockRun {
    const BlockPlan &plan; // not refused
    const Options &options;
    MemoryBudget &memory;
    PieceScope pieces;
    std::uint32_t first_attempt = 0; // its number; others follow

    PieceScope attempt(std::uint32_t number) const {
        PieceScope scope = pieces;
        scope.task.attempt = first_attempt + number;
        return scope;
    }
};

// Throws Error; an UnfitPrime (lib/run/errors.hpp) leaves the block as it was. Of a Block the permanent
// and its bound; of an ExactBlock outcome.wide, in the plan's numbers.
Outcome run_block(const BlockRun &run, Block &&block);
Outcome run_block(const BlockRun &run, const ExactBlock &block);

} // namespace libperm
