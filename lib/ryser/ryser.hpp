// Engine `ryser`: the Nijenhuis-Wilf form of Ryser's formula over a sparse matrix, in Gray-code order, with
// columns sorted by degree and zero row sums tracked (CPU-SparsePerman: Elbek and Kaya, Algorithm 1 and
// §VI-B). Where lines repeat it can sum over counts of equal columns instead (lib/ryser/walk.hpp).
#pragma once

#include "lib/run/engine_run.hpp"
#include "lib/ryser/plan.hpp"

namespace libperm {

// In all kinds of numbers that there are. The magnitudes of a Block have a perfect matching, of a dd block
// all entries are real, primes are odd ones below 2^62; lines that the plan takes for equal have equal
// values. Progress is counted in terms, those of all matrices of residues.
EngineResult run_ryser(const RyserPlan &plan, const EngineInput &input);
// The chosen candidate.
EngineResult run_ryser(const EngineRun &run, const EngineInput &input);

// The sums, `operations` left for the caller. In doubles or, over counts, double-doubles.
EngineResult ryser_real(const RyserPlan &plan, const Block &block);
// In complex, dd or complex_dd.
EngineResult ryser_wide(const RyserPlan &plan, const ExactBlock &block, Arithmetic arithmetic);
EngineResult ryser_modular(const RyserPlan &plan, const Residues &residues);

} // namespace libperm
