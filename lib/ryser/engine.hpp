// Engine `ryser`: in which order it sums, over subsets of A's columns or of its rows, what that is expected
// to take, and the sums.
#pragma once

#include "lib/run/candidates.hpp"
#include "lib/run/engine_input.hpp"
#include "preprocess/pattern.hpp"
#include "preprocess/repeated_lines.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

class Proposals;

class RyserPlan final : public EnginePlan {
  public:
    bool transposed = false;
    bool counted = false;          // equal lines are taken together; else each line is a kind of its own
    double terms = 1;              // of the sum; infinity is possible
    double updates_per_subset = 0; // row sums that change from one term to the next, on average
    // The columns of the sum, by ascending degree, so that the first change most often; one is left out.
    std::vector<EqualLines> row_kinds, column_kinds;
    std::int32_t last_column = 0;

    bool has_weights() const; // some column is there twice
};

constexpr double ryser_most_subsets = 0x1p62; // they are counted in 64 bits; plans of more cannot be run

RyserPlan plan_ryser(const Pattern &a, const Pattern &at, const LineClasses &kinds = {});
// What plan_ryser chooses from: over subsets where no kinds are given, over counts else.
RyserPlan plan_ryser_sum(const Pattern &a, const Pattern &at, const LineClasses &kinds, bool transposed);

// Leaves out one of the fewest columns, the last of such kinds: m + 1 counts of a kind become m.
void leave_out_column(RyserPlan &plan);

Cost ryser_cost(const RyserPlan &plan);
// `bits`: of the permanent, if it is to be exact.
Slowdown ryser_slowdown(const Numbers &numbers, double bits);

void propose_ryser(Proposals &task, Engine self);

// As bytes, and back. Throws DamagedField for what is no plan of the block's.
std::string saved_ryser(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_ryser(std::string_view bytes, const PlanSource &of);
void check_ryser(const Candidate &c);

// Engine `ryser`: the Nijenhuis-Wilf form of Ryser's formula over a sparse matrix, in Gray-code order, with
// columns sorted by degree and zero row sums tracked (CPU-SparsePerman: Elbek and Kaya, Algorithm 1 and
// §VI-B). Where lines repeat it can sum over counts of equal columns instead (lib/ryser/walk.hpp).

// In all kinds of numbers that there are. The magnitudes of a Block have a perfect matching, of a dd block
// all entries are real, primes are odd ones below 2^62; lines that the plan takes for equal have equal
// values. Progress is counted in terms, those of all matrices of residues.
EngineResult run_ryser(const RyserPlan &plan, const EngineInput &input);
// The chosen candidate.
EngineResult run_ryser(const EngineRun &run, const EngineInput &input);

} // namespace libperm
