// The books of a frontier run: keeps the states near 1, and account of every way in which the result can
// differ from the permanent (docs/accuracy.md has the proof).
#pragma once

#include "lib/frontier/number.hpp"
#include "lib/number/wide_entries.hpp"
#include "lib/run/engine_result.hpp"
#include "preprocess/frontier_program.hpp"

#include <vector>

namespace libperm {

// An entry as the engine is to use it.
struct Coefficient {
    PackedParts value{};
    double magnitude = 0;
};

class FrontierLedger {
  public:
    explicit FrontierLedger(const Block &block); // scaled; it and the entries must outlive the ledger
    explicit FrontierLedger(const WideEntries &entries);

    // The row's entries, by what keeps the states near 1.
    const std::vector<Coefficient> &begin_step(const FrontierStep &step);

    // `additions`: on the way of any term through this row, at most.
    void end_step(double additions, double expansions, const Extent &extent);

    // The last state's value and magnitude.
    EngineResult close(const PackedParts &value, double magnitude) const;

  private:
    int most_exponent() const;
    Coefficient coefficient(std::int64_t entry, int scale) const;

    const Block &block_; // of magnitudes, if wide
    const WideEntries *wide_ = nullptr;
    Arithmetic arithmetic_ = Arithmetic::real;
    std::vector<Coefficient> coefficients_;
    std::int64_t exp2_ = 0;   // the true states are the computed ones times 2^exp2_
    std::int32_t shift_ = 0;  // by how much the next row is to be scaled down
    Extent extent_{1, 1};     // of the states
    bool underflows_ = false; // a product of this row may
    double most_copies_ = 1;  // of a column of this row
    double roundings_ = 0;    // on the way of a term, at most
    double underflow_ = 0;    // absolute error that underflow can have made, summed over the states
    bool exact_ = true;       // no operation has rounded so far: all states are multiples of 2^unit_
    std::int64_t unit_ = 0;
};

} // namespace libperm
