// Annealing by rotations of a branch decomposition.
#pragma once

#include "preprocess/branch_tree.hpp"
#include "preprocess/search_random.hpp"
#include "preprocess/search_work.hpp"

namespace libperm {

// A rotation that makes its two joins f times as dear is made with the probability f^-coldness.
struct AnnealingSchedule {
    double seconds = 0; // of work
    double first_coldness = 3, last_coldness = 30;
};

void anneal(BranchTree &tree, const AnnealingSchedule &schedule, SearchRandom &random, SearchWork &work);

} // namespace libperm
