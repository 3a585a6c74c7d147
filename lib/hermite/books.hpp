// The books of a table of doubles: what its entries are scaled by, and in which ways the result can differ
// from the hafnian.
#pragma once

#include "lib/hermite/plan.hpp"
#include "lib/number/state_number.hpp"
#include "lib/number/wide_entries.hpp"
#include "lib/run/engine_result.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// A scaled block, or its entries in numbers of several doubles; both outlive what is made of them.
struct HermiteEntries {
    const Block &block; // of magnitudes, if wide
    const WideEntries *wide = nullptr;

    Arithmetic arithmetic() const { return wide ? wide->arithmetic : Arithmetic::real; }
};

class HermiteBooks {
  public:
    // `exponents`: the numbers have their own.
    HermiteBooks(const HermitePlan &plan, const HermiteEntries &entries, bool exponents);

    struct Coefficient {
        PackedParts value{};
        double magnitude = 0;
        std::int64_t exp2 = 0; // of both, where the numbers have exponents
    };
    Coefficient coefficient(std::int64_t entry, bool is_loop);

    // Whether no number that was met is near the ends of a double's range.
    bool holds(const Extent &extent);

    // The last number's value and magnitude, both times 2^exp2.
    EngineResult close(const PackedParts &value, double magnitude, std::int64_t exp2 = 0) const;

  private:
    void find_scale();
    double roundings() const;

    const HermitePlan &plan_;
    HermiteEntries entries_;
    bool exponents_;
    std::int64_t lines_ = 0;
    std::int64_t scale_ = 0; // edges are times 2^-scale_, loops times half that
    bool whole_ = false;     // whole numbers then, which no operation rounds below 2^53
    Extent coefficients_, met_{1, 1};
};

} // namespace libperm
