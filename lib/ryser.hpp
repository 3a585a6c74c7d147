// Engine `ryser`: the Nijenhuis-Wilf form of Ryser's formula over a sparse matrix, in Gray-code order, with
// columns sorted by degree and zero row sums tracked (CPU-SparsePerman: Elbek and Kaya, Algorithm 1 and
// §VI-B).
#pragma once

#include "lib/memory_budget.hpp"
#include "lib/outcome.hpp"
#include "lib/run_control.hpp"
#include "preprocess/pattern.hpp"

#include <span>

namespace libperm {

struct RyserPlan {
    bool transposed = false;
    std::vector<std::int32_t> columns; // ascending degree: the first change most often, the last is left out
    double updates_per_subset = 0;     // row sums that change from one subset to the next, on average
};

constexpr std::int32_t ryser_largest_n = 63; // subsets are counted in 64 bits

RyserPlan plan_ryser(const Pattern &a, const Pattern &at);

// `p` is A or A^T as the plan has it, `values` by its entries. Progress is counted in subsets.
Outcome run_ryser(const RyserPlan &plan, const Pattern &p, std::span<const double> values,
                  RunControl &control);

} // namespace libperm
