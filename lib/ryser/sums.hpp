// Nijenhuis and Wilf's sum in each kind of numbers; `operations` are left for the caller.
#pragma once

#include "lib/run/engine_input.hpp"
#include "lib/run/engine_result.hpp"
#include "lib/run/run_control.hpp"
#include "lib/ryser/plan.hpp"

namespace libperm {

EngineResult ryser_by_subsets(const RyserPlan &plan, const Block &block, RunControl &control);

// Where lines repeat: over how many columns of each kind are in the subset, with binomial weights; a factor
// for each kind of rows, to the power of their number. With m_t the columns of kind t, the one left out not
// counted,
//   perm(A) = (4 (n mod 2) - 2) sum over 0 <= k_t <= m_t of
//             (-1)^(sum k) prod_t C(m_t, k_t) prod_i (x_i + sum_t k_t a_it)
EngineResult ryser_by_counts(const RyserPlan &plan, const Block &block, RunControl &control);

// The following either way. In complex, dd or complex_dd.
EngineResult ryser_wide(const RyserPlan &plan, const ExactBlock &block, Arithmetic arithmetic,
                        RunControl &control);

EngineResult ryser_modular(const RyserPlan &plan, const Residues &residues, RunControl &control);

} // namespace libperm
