// Marginals are each entry's probability to be in the matching, and each line's to stay unmatched, where a
// matching's probability is its share of the sum over all.
#pragma once

#include "lib/execute/plan_gradient.hpp"
#include "lib/marginals/set_walk.hpp"
#include "lib/run/results.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace libperm {

// A plan, and what it keeps for the road of large matrices: `tape` may be null, what `derivatives` take is
// made when it is first asked for.
struct MarginalsPlan {
    const Plan &plan;
    const TapePlan *tape;
    const PlanGradient &derivatives;
};

// The sum over all matchings.
struct MatchingSum {
    TapeAnswer value;
    Outcome outcome;
    int threads = 1;
};

class Marginals {
  public:
    explicit Marginals(const InputPattern &input);

    struct Work { // kept from one matrix to the next
        SetWalk::Workspace sets;
        std::vector<double> values;
    };

    std::int64_t count() const { return count_; } // of a matrix: entries, rows, columns
    bool by_sets() const { return sets_.has_value(); }
    double operations() const; // of a matrix, by sets

    // Whether a matrix takes so much memory that those of a batch are to be run one by one, each on all
    // threads.
    bool takes_much(const MarginalsPlan &of) const;

    // values as perm_plan_execute takes them. Throws Error.
    MatchingSum run(const MarginalsPlan &of, const void *values, Work &work, MarginalNumbers to) const;

    // Without a plan, on the threads of the arena that it is called in. None: another way may be the quicker.
    // Throws Error.
    std::optional<MatchingSum> run_alone(const InputPattern &input, const Options &options,
                                         const void *values, Work &work, MarginalNumbers to) const;

  private:
    std::optional<MatchingSum> run_by_sets(const InputPattern &given, const void *values, Work &work,
                                           MarginalNumbers to) const;
    MatchingSum run_by_derivatives(const MarginalsPlan &of, const void *values, MarginalNumbers to) const;

    std::int64_t count_;
    std::optional<SetWalk> sets_;
};

// Many matrices of one pattern: matrix k's values begin k * stride values after the first's.
struct MarginalsBatch {
    const void *values;
    std::int64_t stride, count;
};

// Matrix k's numbers begin at k * marginals.count(). Runs on the threads of the arena that it is called in;
// what a matrix gets does not depend on the others. tell(k, sum) is called by any thread. Throws Error,
// naming the matrix.
void marginals_of_batch(const MarginalsPlan &of, const Marginals &marginals, const MarginalsBatch &batch,
                        MarginalNumbers to,
                        const std::function<void(std::int64_t k, const MatchingSum &)> &tell);

} // namespace libperm
