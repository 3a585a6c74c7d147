// Whole numbers and fractions from residues modulo primes, which are found in pieces: some primes each.
#pragma once

#include "jit/lanes/residue_sums.hpp"
#include "jit/number/arithmetic.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/base/archive.hpp"
#include "lib/number/state_number.hpp"
#include "lib/periodic/answers/residue_terms.hpp"
#include "lib/run/numbered_sum.hpp"
#include "lib/run/results.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libperm {

// The largest primes below 2^bits, so many, whose product is beyond what they are to tell. A processor takes
// any, a GPU those below 2^47: who plans chooses them, and all who find residues have these.
struct TermPrimes {
    std::int32_t bits = 0;
    std::int64_t count = 0;

    double product_bits() const { return static_cast<double>(count) * bits; }

    template <class Archive> void serialize(Archive &ar) {
        ar(bits, count);
        const bool is_length = bits == modular_bits || bits == residue_lane_bits || bits == residue_bits;
        require_read<Archive>(is_length && 1 <= count && count < std::int64_t{1} << 28, "primes");
    }
};

// Those that are quickest by the plan's options. Throws Error where the terms are too long.
TermPrimes primes_of_terms(const PeriodicPlan &plan, std::int64_t first, std::int64_t count);

// Whether they are as many as the terms take, whoever named them. Throws the same.
bool tell_terms(const TermPrimes &primes, const PeriodicPlan &plan, std::int64_t first, std::int64_t count);

// The pieces that these fall into, by what is said here alone.
NumberedPieces pieces_of(const TermPrimes &primes, bool joined);

class ExactTerms {
  public:
    // Of a(first), a(first + 1), ...; the plan must outlive it. Throws Error (PERM_UNSUPPORTED) where a GPU
    // is named that does not take these primes.
    ExactTerms(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, const TermPrimes &primes);

    std::string scale() const; // a digest: what the terms are multiplied with to be whole

    // In the pieces of the call, whose progress counts them; on the devices of the plan's options.
    ResidueTerms residues();
    // From those.
    std::vector<Outcome> outcomes(const ResidueTerms &residues) const;

  private:
    const PeriodicPlan &plan_;
    std::int64_t first_, count_;
    TermPrimes primes_;
    std::vector<std::uint64_t> all_; // once residues are found
    Charge charge_;                  // of these
    IntegerEntries entries_;
    bool on_gpu_ = false;
};

// Whether exact numbers may be found on a GPU: by a table, of open ends.
bool walks_on_device(const PeriodicPlan &plan);

} // namespace libperm
