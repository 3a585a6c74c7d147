// Permanents straight from the values, by a plan's tape (jit/program/tape.hpp): what a small plan that is
// executed again and again runs. No value is looked at but to scale rows by powers of two.
#pragma once

#include "jit/lanes/tape_walk.hpp"
#include "lib/plan/plan.hpp"
#include "lib/run/escalation.hpp"
#include "lib/run/results.hpp"
#include "lib/tape/tape_steps.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <span>

namespace libperm {

struct TapeAnswer {
    Scaled re, im, error; // |text - perm(A)| <= error
    double rel_error_bound = 0;
    bool exact = false;

    // `of_value`: the error of the value, of magnitude `size`, before it is written.
    void set_error(const Scaled &size, const Scaled &of_value);
    std::size_t digits() const; // of the text
};
Answer answer_of(const TapeAnswer &answer, bool with_text);

// What the account of a tape's run says beside its answer.
Outcome outcome_of(const Tape &tape, const TapeAnswer &answer, bool on_gpu = false);

class TapePlan {
  public:
    ~TapePlan();

    // Fills in the plan's order for a tape, if it is one for this: small, and in doubles.
    static void order(Plan &plan);

    // Null if the plan is to be executed as it stands.
    static std::unique_ptr<const TapePlan> of(const Plan &plan);

    // Of 1 to tape_lanes matrices, each by the address of its values in the caller's order; in doubles, or in
    // twice their precision. Threads may call it at the same time; nothing is allocated once as many have
    // called it before. A matrix's bits do not depend on those beside it. False: some are not finite, or
    // a row lies among the subnormal numbers.
    bool run(std::span<const void *const> matrices, bool dd, TapeAnswer *answers) const;

    const Escalation &escalation() const { return escalation_; }
    bool is_enough(const TapeAnswer &answer) const {
        return escalation_.is_enough_in_doubles(answer.rel_error_bound);
    }

    // For who runs the tape elsewhere, in doubles: the answer from the last state's block, and how the rows
    // were scaled.
    struct Loaded {
        std::int64_t exp2 = 0;
        int bits = -1; // -1, or all products of the entries are multiples of 2^-bits
    };
    TapeAnswer answer(const double *last, TapeLayout layout, int lane, const Loaded &matrix) const;
    Arithmetic arithmetic(bool dd) const;

    // What the account of a run says beside its answer.
    Outcome outcome_of(const TapeAnswer &answer, bool on_gpu = false) const;

    const Tape &tape() const { return tape_; }

  private:
    struct Workspace;
    class Lease;
    template <bool complex> class Load;

    TapePlan(Tape tape, const Plan &plan);

    std::int64_t bytes() const; // of a workspace
    template <bool complex>
    bool run_as(std::span<const void *const> matrices, bool dd, TapeAnswer *answers) const;

    const Tape tape_;
    const bool complex_;
    const Escalation escalation_;
    double underflow_ = 0; // of a result, at most, where entries are at most 1
    mutable std::array<std::atomic<Workspace *>, 256> idle_{};
};

} // namespace libperm
