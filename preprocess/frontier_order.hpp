// Search for the row order (of A or of A^T) that makes the frontier cheapest.
#pragma once

#include "preprocess/frontier_states.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/search.hpp"

#include <optional>

namespace libperm {

// What a form of the frontier is going to take.
struct FrontierPrice {
    double expansion = 1e-9, state = 1e-9; // seconds
    double most_states = 1e300;            // at once; with more it is cut into slices, or not run
    std::int32_t widest = 1 << 30;         // open columns: with more it is not run
};

struct FrontierOrderOptions {
    std::uint64_t seed = 0;
    std::optional<bool> transposed;  // the only side that is looked at
    FrontierPrice sparse, dense;     // the cheaper one for an order is its cost
    double other_seconds = 1e300;    // what the best other engine would take: what is far from it is given up
    double other_search = 1e300;     // seconds that searching is worth for that one
    bool may_fall_behind = false;    // the search ends where it will not come up with that one
    double branches_seconds = 1e300; // what a tree takes, found in a short search: further yet is given up
    SearchBudget budget;             // of the search, on both sides
    double limit_seconds = 1e300;    // a run predicted to take many times this will not be run
    double most_bytes = 1e300;       // of frontiers that are kept to go back to; beyond, no order is bettered
    MemoryAccount *account = nullptr; // what holds these frontiers, if there is one; may throw
};

// log2 of states at once beyond which no order is looked at further.
constexpr int frontier_out_of_reach = 100;

// The most columns that a state can tell apart. All of a row's are open when it is taken.
constexpr std::int32_t widest_frontier = 4096;

struct FrontierOrder {
    bool feasible = false; // else no order within frontier_out_of_reach was found, and `rows` means nothing
    bool transposed = false;
    std::vector<std::int32_t> rows; // of A, or of A^T when transposed
    double seconds = 0;             // the objective: what a run will take, by the prices
    bool too_wide = false;          // for what none is feasible: the columns that are open, not the states
};

// What two sides, a search and a program take; of a search without the frontiers it keeps.
std::int64_t frontier_planning_bytes(const Pattern &a);

// Greedy starts, then annealing by moving single rows; ends when it has taken what its budget says of the run
// that it prepares. Deterministic: the same pattern, seed and options give the same order on any number of
// threads.
FrontierOrder find_frontier_order(const std::array<FrontierSide, 2> &sides,
                                  const FrontierOrderOptions &options);

} // namespace libperm
