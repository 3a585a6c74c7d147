// The derivatives of a plan's permanent, and marginals, the quickest way: along the frontier's tape
// (lib/tape); by an inverse at the entries where the matrix is planar; by minors of a graph; of marginals, by
// tables over all sets of the lines that wait (lib/sets), and of derivatives, by sums over signs, which take
// no memory to speak of: both do not care how full the matrix is.
#pragma once

#include "lib/base/threads.hpp"
#include "lib/execute/planar_gradient.hpp"
#include "lib/run/task_parts.hpp"
#include "lib/sets/set_gradient.hpp"
#include "lib/tape/gradient.hpp"

#include <array>
#include <atomic>
#include <memory>

namespace libperm {

class PlanGradient;

// A value of no sign but plus, in doubles.
TapeAnswer answer_of_sets(const SetValue &value);

// Where a matrix's probabilities go: of entries, rows, columns; `bounds` may be null.
struct MarginalNumbers {
    double *marginals, *bounds;
};

// Tables over sets for marginals: whether they may be a way, and whether no other is quicker for certain, or
// takes longer to be found.
bool may_go_by_sets(const InputPattern &input, const Options &options);
bool are_quickest(const SetGradient &sets, const Pattern &pattern, const Options &options);
// On the threads of the arena that it is called in, or on a GPU. None, and nothing is written: they do not
// tell.
std::optional<TapeAnswer> marginals_by_sets(const SetGradient &sets, const InputPattern &given,
                                            const void *values, MarginalNumbers to, const Options &options,
                                            Outcome &outcome);

// The way for values of the plan's pattern: one of these, or by sums; of a hafnian the first, or by minors.
struct GradientWay {
    const Gradient *tape = nullptr;
    const PlanarGradient *planar = nullptr;
    const SetGradient *sets = nullptr; // of marginals, by marginals_by_sets
    bool on_gpu = false;               // sums

    // For the other way, where one does not tell.
    const PlanGradient *of = nullptr;
    const TapePlan *direct = nullptr;

    bool by_minors = false; // of a hafnian

    Engine engine() const;

    // As Gradient::run; sums on so many threads at most, with the same bits for any number of them. Parts of
    // these that the call's store has are taken from it, and others left there.
    TapeAnswer run(const Plan &plan, int threads, const void *values, double *gradient, double *error_bounds,
                   Outcome &outcome) const;

    // As Gradient::marginals, the other ways; not by sums. Lines that stay unmatched because nothing else
    // happens to them are left out.
    TapeAnswer marginals(const Plan &plan, const void *values, double *marginals, double *error_bounds,
                         Outcome &outcome) const;

  private:
    template <class By> TapeAnswer by_either(const Plan &plan, const By &by) const;
};

// What the way is to be, as far as it can be told before a tape is made, which may turn out to be too large.
struct GradientForecast {
    Engine engine = engine_for(Goal::gradient); // along the tape; else that of another way
    bool on_gpu = false;
};

// The shards of sums over signs, which follow from the plan's matrix alone.
ShardCount shards_of_sums(const Plan &plan);

class PlanGradient {
  public:
    GradientForecast forecast(const Plan &plan, const TapePlan *direct) const;

    // For derivatives, or for marginals. What it takes is made when it is first needed. `direct` may be null.
    // Throws Error.
    GradientWay way(const Plan &plan, const TapePlan *direct, Goal goal = Goal::gradient) const;

    // Whichever is quickest: the one that has this engine. Throws Error where there is none.
    GradientWay way_by(Engine engine, const Plan &plan, const TapePlan *direct) const;

    // Whichever is quickest.
    const Gradient &tape(const Plan &plan, const TapePlan *direct, double most_moves = 0x1p32,
                         Goal goal = Goal::gradient) const {
        return *tape_.of([&] {
            return std::make_unique<const Gradient>(plan, direct, GradientWish{most_moves, goal});
        });
    }

    // Null: none that is worth it.
    const PlanarGradient *instead_of_tape(const Plan &plan) const;

  private:
    GradientWay along(const Gradient &tape, const TapePlan *direct) const {
        return {.tape = &tape, .of = this, .direct = direct};
    }
    GradientWay way_of_graph(const Plan &plan, const TapePlan *direct, Goal goal) const;
    // Or by an inverse, where there is no room for one.
    GradientWay by_tape(const Plan &plan, const TapePlan *direct, Goal goal) const;
    // Along the tape or by tables over sets, where one of these is quicker than so many seconds; else none.
    std::optional<GradientWay> way_of_marginals(const Plan &plan, const TapePlan *direct,
                                                double other_seconds) const;

    const PlanarGradient *planar(const Plan &plan) const { // null: none
        return planar_.of([&] { return PlanarGradient::of(plan); });
    }

    Lazy<Gradient> tape_;
    Lazy<PlanarGradient> planar_;
    Lazy<SetGradient> sets_;
    mutable std::array<std::atomic<bool>, 4>
        is_tape_too_large_{}; // beside sums, beside an inverse, beside tables over sets, beside minors
};

} // namespace libperm
