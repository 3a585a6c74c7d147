// Search for the row order (of A or of A^T) that makes the frontier cheapest.
#pragma once

#include "preprocess/frontier_side.hpp"

#include <functional>

namespace libperm {

struct FrontierOrderOptions {
    std::uint64_t seed = 0;
    double seconds_per_expansion = 1e-9; // what an expansion will cost, to weigh the search against the run
    double other_seconds = 1e300; // what the best other engine would take: not worth searching beyond it
    double effort = 1;            // the share of the usual search: less for a rough idea of the cost
    double limit_seconds = 1e300; // a run predicted to take many times this will not be run
    std::function<void()> poll;   // called now and then, from any thread; may throw to stop the search
};

// log2 of states at once beyond which no order is looked at further.
constexpr int frontier_out_of_reach = 100;

struct FrontierOrder {
    bool feasible = false; // else no order within frontier_out_of_reach was found, and `rows` means nothing
    bool transposed = false;
    std::vector<std::int32_t> rows; // of A, or of A^T when transposed
    double expansions = 0;          // the objective: sum over the rows of expansions + states, an upper bound
};

// Greedy starts, then annealing by moving single rows; ends when it has taken a fixed share of the run it
// prepares. Deterministic: the same pattern, seed and options give the same order on any number of threads.
FrontierOrder find_frontier_order(const std::array<FrontierSide, 2> &sides,
                                  const FrontierOrderOptions &options);

} // namespace libperm
