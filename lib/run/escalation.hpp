// What follows an answer that is less certain than was asked for, and for how long
// at most. Step by step:
//
//   a plan's tape (lib/tape) in doubles, then in numbers of two doubles
//   the plan's engines (lib/execute/block_run.hpp); where a sum over subsets has lost digits of a block,
//     another engine for that block
//   the whole plan in dd, or exactly, the quicker one first (lib/execute/execute.hpp)
//
// Only precision `auto` goes on from one numbers to the next, only engine `auto`, beside it, from one engine
// to another: `double` is one run. Whatever stops on the way leaves the answer that was there.
#pragma once

#include "lib/input/options.hpp"

#include <span>

namespace libperm {

constexpr double second_run_seconds = 60; // that a run for more digits may be predicted to take
constexpr double unnoticed_seconds = 0.5; // a run so short is made without comparing
// With which these seconds are predicted, however many there are: an answer does not follow from that.
constexpr int usual_threads = 2;

// Whether values of this type are counted with: whoever wrote digits wants them all.
inline bool counts(perm_value_type type) {
    return type == PERM_VALUE_I64 || type == PERM_VALUE_PATTERN || type == PERM_VALUE_TEXT;
}

class Escalation {
  public:
    // A run of the whole plan in other numbers is made if it is predicted to take no longer than that.
    struct Step {
        Precision precision;
        double most_seconds;
    };

    explicit Escalation(const Options &options)
        : tolerance_(options.tolerance),
          changes_numbers_(options.precision == Precision::automatic),
          may_refine_rows_(changes_numbers_ || options.precision == Precision::double_),
          changes_engines_(changes_numbers_ && !options.names_engine()) {}

    bool is_met(double rel_error_bound, bool is_exact = false) const {
        return is_exact || rel_error_bound <= tolerance_;
    }

    // In doubles any digit is enough where only these are asked for.
    bool is_enough_in_doubles(double rel_error_bound) const {
        return is_met(rel_error_bound) || (!changes_numbers_ && rel_error_bound < 1);
    }

    // The tape's numbers: whether of two doubles.
    std::span<const bool> of_tape() const {
        static constexpr bool with_dd[] = {false, true};
        return {with_dd, changes_numbers_ ? 2u : 1u};
    }
    // Whether another engine may compute a block after this one.
    bool may_change_engine(Engine after) const { return changes_engines_ && has_kernel(after); }

    bool may_change_numbers() const { return changes_numbers_; }
    // Whether row sums may be held on two grids, products being those of doubles.
    bool may_refine_rows() const { return may_refine_rows_; }
    static constexpr Step dd{Precision::dd, second_run_seconds};
    static constexpr Step exact{Precision::exact, second_run_seconds};
    // Whoever counts wants the last digit as well.
    static constexpr Step last_digit{Precision::exact, unnoticed_seconds};

  private:
    double tolerance_;
    bool changes_numbers_, may_refine_rows_, changes_engines_;
};

} // namespace libperm
