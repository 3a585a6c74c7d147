// The derivatives of a permanent by all entries at once: along a tape forwards, with every state kept, and
// back (reverse mode). A state's slope is the permanent's derivative by it; the derivative by an entry is the
// sum, over the moves that take it, of the state before times the slope of the one after. In a join the other
// side's states are what entries are in a step.
#pragma once

#include "lib/tape/gradient_entries.hpp"
#include "lib/tape/tape_run.hpp"

#include <functional>

namespace libperm {

// The tape that is to be made.
struct GradientWish {
    double most_moves = 0x1p32;
    Goal goal = Goal::gradient; // what a refusal is to speak of
};

class Gradient {
  public:
    // Along the tape of `direct`, which stays, or of one made now. Throws Error.
    Gradient(const Plan &plan, const TapePlan *direct, const GradientWish &wish = {});
    // Along this one, of the plan's pattern.
    Gradient(const Plan &plan, Tape tape);

    // Of as many entries as the caller has: two doubles for each where they are complex. `error_bounds` may
    // be null. Both are written last. `outcome` goes with the answer, the permanent.
    TapeAnswer run(const Plan &plan, const void *values, double *gradient, double *error_bounds,
                   Outcome &outcome) const;

    // As many numbers as the matrix has entries, rows and columns: each entry's and weight's share of the
    // permanent, value times derivative over it, 0 for lines without a weight. The values must not be
    // negative, which is not looked at; where the permanent is 0 nothing is written.
    TapeAnswer marginals(const Plan &plan, const void *values, double *marginals, double *error_bounds,
                         Outcome &outcome) const;

  private:
    class Walk;
    class Reading;

    // Along the tape and back, then read(reading), at last; null: there is no move, and all is 0.
    TapeAnswer walk(const Plan &plan, const void *values, Outcome &outcome,
                    const std::function<void(const Reading *)> &read) const;

    // What is known of a list of the tape beforehand.
    struct List {
        std::vector<std::uint32_t> entries;            // that its moves take
        double roundings = 0, roundings_of_slopes = 0; // of a term of a state, of a slope
        std::size_t slopes = 0;                        // where they stand while they are needed, in states
    };

    void describe(const Plan &plan);
    void turn_round();
    void describe_lists();
    void count_roundings();
    void place_slopes();
    void find_places(const Plan &plan);

    Tape own_;
    const Tape *tape_ = &own_;
    Tape way_back_; // with the moves from each state; those of a join from the left ones
    std::vector<List> lists_;
    std::size_t most_slopes_ = 0;       // at once
    std::vector<std::int32_t> list_of_; // of each of the tape's entries: what takes it; 0: no move
    std::vector<std::int64_t> places_;  // of the pattern's entries among the caller's
    std::vector<std::int64_t> numbers_; // and in the tape; empty: their own
    std::vector<EntryCopies> copies_;   // of the caller's values
    std::vector<std::int32_t> pattern_row_, pattern_col_;
};

} // namespace libperm
