// The derivatives of a plan's permanent, the quicker way: along the frontier's tape (lib/tape), or by sums
// over signs, which take no memory to speak of and do not care how full the matrix is.
#pragma once

#include "lib/run/parts.hpp"
#include "lib/tape/gradient.hpp"

#include <atomic>

namespace libperm {

// The quicker way for values of the plan's pattern.
struct GradientWay {
    const Gradient *tape; // the plan's; null: by sums
    bool on_gpu = false;  // these

    // As Gradient::run; sums on so many threads at most, with the same bits for any number of them. Parts of
    // these that the control's store has are taken from it, and others left there.
    TapeAnswer run(const Plan &plan, int threads, const void *values, double *gradient, double *error_bounds,
                   RunControl &control, Outcome &outcome) const;
};

// What the way is to be, as far as it can be told before a tape is made, which may turn out to be too large.
struct GradientForecast {
    Engine engine = engine_for(Goal::gradient); // along the tape; else by sums
    bool on_gpu = false;
};

// The shards of sums over signs, which follow from the plan's matrix alone.
ShardCount shards_of_sums(const Plan &plan);

class PlanGradient {
  public:
    GradientForecast forecast(const Plan &plan, const TapePlan *direct) const;

    // A tape is made when it is first needed. `direct` may be null. Throws Error.
    GradientWay way(const Plan &plan, const TapePlan *direct, RunControl &control) const;

    GradientWay by_sums(const Plan &plan) const; // whichever is quicker. Throws Error where there are none

    const LazyGradient &tape() const { return tape_; } // whichever is quicker

  private:
    LazyGradient tape_;
    mutable std::atomic<bool> sums_{false}; // a tape was found to be too large
};

} // namespace libperm
