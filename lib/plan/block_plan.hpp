// How one block is computed: every engine that could do it with what that would take, and the one chosen.
#pragma once

#include "lib/run/block_values.hpp"
#include "lib/run/candidate.hpp"

#include <string>
#include <vector>

namespace libperm {

struct Options;
struct BlockPlan {
    std::int32_t n = 0;
    std::int64_t nnz = 0;
    bool nonnegative = false; // the values are known to be
    Numbers numbers;
    std::vector<Candidate> candidates; // by predicted time of one thread
    int chosen = -1;                   // in candidates; -1: all refused
    std::string why;                   // the choice, in words
    perm_status refusal = PERM_OK;     // of running this block, with its text
    std::string refusal_text;

    const Candidate *choice() const {
        return chosen < 0 ? nullptr : &candidates[static_cast<std::size_t>(chosen)];
    }
    // The chosen one, or the one that would be without limits.
    const Candidate &best() const { return chosen < 0 ? candidates.front() : *choice(); }
};

std::int64_t bytes_of(const BlockPlan &plan);

// Throws Error only when stopped by its call: what cannot be run still makes a plan, to be explained.
// `effort`: of the search for a good order, for a rough idea of the cost less than 1.
BlockPlan plan_block(const Pattern &a, const LineClasses &kinds, const BlockValues &values,
                     const Options &options, double effort = 1);

} // namespace libperm
