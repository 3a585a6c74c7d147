// The books of a frontier run: keeps the states near 1, and account of every way in which the result can
// differ from the permanent (docs/accuracy.md has the proof).
#pragma once

#include "lib/number/state_number.hpp"
#include "lib/number/wide_entries.hpp"
#include "lib/run/engine_result.hpp"
#include "preprocess/frontier_program.hpp"

#include <vector>

namespace libperm {

// An entry as the engine is to use it.
struct Coefficient {
    PackedParts value{};
    double magnitude = 0;
    std::int64_t exp2 = 0; // of both, where the states have exponents
};

class FrontierLedger {
  public:
    // Of a scaled block; it and the entries must outlive the ledger. `exponents`: the states have their own
    // (lib/number/ranged.hpp).
    explicit FrontierLedger(const Block &block, bool exponents = false);
    explicit FrontierLedger(const WideEntries &entries, bool exponents = false);

    // The row's entries, by what keeps the states near 1.
    const std::vector<Coefficient> &begin_step(const FrontierStep &step);

    // `additions`: on the way of any term through this row, at most.
    void end_step(double additions, double expansions, const Extent &extent);

    // Joins the books of another branch: what both lists are scaled by before their states are multiplied.
    // end_step then closes the join as it does a step.
    JoinScales begin_join(const FrontierLedger &other, double states, double other_states);

    // The last state's value and magnitude, both times 2^exp2.
    EngineResult close(const PackedParts &value, double magnitude, std::int64_t exp2 = 0) const;

    // Whether more may be lost by that than by rounding.
    bool has_underflowed(double magnitude) const;

  private:
    int apply_shift(double states);
    int most_exponent() const;
    Coefficient coefficient(const FrontierTerm &t, int scale) const;
    void begin_ranged_step(const FrontierStep &step);

    const Tracked &entry_of(const FrontierTerm &t) const;

    const Block *block_; // of magnitudes, if wide
    const WideEntries *wide_ = nullptr;
    bool exponents_;
    Arithmetic arithmetic_ = Arithmetic::real;
    std::vector<Coefficient> coefficients_;
    std::int64_t exp2_ = 0;   // the true states are the computed ones times 2^exp2_
    std::int32_t shift_ = 0;  // by how much the next row is to be scaled down
    Extent extent_{1, 1};     // of the states
    bool underflows_ = false; // a product of this row may
    double most_copies_ = 1;  // of a column of this row
    double of_entries_ = 0;   // roundings that the entries came with
    double roundings_ = 0;    // on the way of a term, at most
    double underflow_ = 0;    // absolute error that underflow can have made, summed over the states
    bool exact_ = true;       // no operation has rounded so far: all states are multiples of 2^unit_
    std::int64_t unit_ = 0;
};

} // namespace libperm
