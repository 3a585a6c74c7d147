// For each entry the probability that it is in the matching, for each line that it stays unmatched, where a
// matching's probability is its share of the sum over all.
#pragma once

#include "lib/marginals/set_walk.hpp"
#include "lib/run/outcome.hpp"
#include "lib/tape/gradient.hpp"

#include <memory>
#include <optional>

namespace libperm {

// A plan's, made when it is first asked for.
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

    // values as perm_plan_execute takes them. To `marginals` and `bounds` (may be null) so many numbers as
    // count(); `derivatives` is what the plan keeps for the road of large matrices. Throws Error.
    void run(const Plan &plan, const TapePlan *direct, const LazyGradient &derivatives, const void *values,
             Work &work, double *marginals, double *bounds, RunControl &control, TapeAnswer &value,
             Outcome &outcome) const;

  private:
    bool run_by_sets(const Plan &plan, const void *values, Work &work, double *marginals, double *bounds,
                     TapeAnswer &value, Outcome &outcome) const;
    void add_implied(const InputPattern &given, double *marginals, double *bounds) const;

    std::int64_t count_;
    std::optional<SetWalk> sets_;
};

} // namespace libperm
