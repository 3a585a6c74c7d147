// In which order engine `ryser` sums, over subsets of A's columns or of its rows, and what that is expected
// to take.
#pragma once

#include "lib/run/candidate.hpp"
#include "preprocess/pattern.hpp"
#include "preprocess/repeated_lines.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

class Proposals;

class RyserPlan final : public EnginePlan {
  public:
    bool transposed = false;
    double terms = 1;              // of the sum; infinity is possible
    double updates_per_subset = 0; // row sums that change from one term to the next, on average
    // Over subsets, each column for itself. By ascending degree: the first change most often, the last is
    // left out.
    std::vector<std::int32_t> columns;
    // Over counts instead, if there are any: the columns of the sum, in the same order, and one left out.
    std::vector<EqualLines> row_kinds, column_kinds;
    std::int32_t last_column = 0;

    bool counted() const { return !row_kinds.empty(); }
};

constexpr double ryser_most_subsets = 0x1p62; // they are counted in 64 bits; plans of more cannot be run

RyserPlan plan_ryser(const Pattern &a, const Pattern &at, const LineClasses &kinds = {});
// What plan_ryser chooses from; the second when lines repeat.
RyserPlan plan_ryser_by_subsets(const Pattern &a, const Pattern &at, bool transposed);
RyserPlan plan_ryser_by_counts(const Pattern &a, const Pattern &at, const LineClasses &kinds,
                               bool transposed);

Cost ryser_cost(const RyserPlan &plan, std::int32_t n);
// `bits`: of the permanent, if it is to be exact.
Slowdown ryser_slowdown(const Numbers &numbers, double bits);

void propose_ryser(Proposals &task, Engine self);

// As bytes, and back. Throws DamagedField for what is no plan of the block's.
std::string saved_ryser(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_ryser(std::string_view bytes, const PlanSource &of);
void check_ryser(const Candidate &c);

} // namespace libperm
