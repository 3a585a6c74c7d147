// Nijenhuis and Wilf's sum where lines repeat: over how many columns of each kind are in the subset, with
// binomial weights; a factor for each kind of rows, to the power of their number. With m_t the columns of
// kind t, the one left out not counted,
//   perm(A) = (4 (n mod 2) - 2) sum over 0 <= k_t <= m_t of
//             (-1)^(sum k) prod_t C(m_t, k_t) prod_i (x_i + sum_t k_t a_it)
#pragma once

#include "lib/run/outcome.hpp"
#include "lib/run/run_control.hpp"
#include "lib/ryser/plan.hpp"
#include "preprocess/block.hpp"

namespace libperm {

// `plan` has kinds.
Outcome run_ryser_by_counts(const RyserPlan &plan, const Block &block, RunControl &control);

} // namespace libperm
