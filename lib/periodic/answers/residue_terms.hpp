// Permanents of a periodic matrix modulo primes.
#pragma once

#include "jit/lanes/residue_sums.hpp"
#include "jit/number/arithmetic.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/base/archive.hpp"
#include "lib/number/residues.hpp"
#include "lib/number/state_number.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/run/numbered_sum.hpp"
#include "lib/run/placement.hpp"
#include "lib/run/results.hpp"
#include "preprocess/limits.hpp"

#include <gmpxx.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace libperm {

// By prime, by term. Gaussian integers have each prime twice (lib/number/residues.hpp).
using ResidueTerms = std::vector<std::vector<std::uint64_t>>;

// Is told the terms modulo each prime, by its number, once, by any thread.
using TellTerms = std::function<void(std::size_t, std::vector<std::uint64_t>)>;

// find(tell), all of it.
template <class Find> ResidueTerms told_terms(std::size_t primes, const Find &find) {
    ResidueTerms all(primes);
    find([&all](std::size_t k, std::vector<std::uint64_t> terms) { all[k] = std::move(terms); });
    return all;
}

// Whole numbers in place of the entries; the permanent of these is per_cell^m of_ends times that of A.
struct IntegerEntries {
    std::vector<mpz_class> re, im; // by move's entry; no `im` if all are real
    mpz_class per_cell = 1, of_ends = 1;
};
IntegerEntries integer_entries(const PeriodicPlan &plan);

// The factor of m cells is at most 2^factor_bits, and hardly less.
double factor_bits(const IntegerEntries &entries, std::int64_t m);

// The length of primes that is best for numbers of so many bits.
int bits_of_primes(const PeriodicPlan &plan, double bits);

// The same modulo each prime.
Residues residues_of(const IntegerEntries &entries, const std::vector<std::uint64_t> &primes);

// The terms of the whole numbers, modulo primes; of an operator that is not written out by its table, on
// devices if these are not null.
void find_modulo(const PeriodicPlan &plan, const IntegerEntries &entries,
                 const std::vector<std::uint64_t> &primes, std::int64_t first, std::int64_t count,
                 const TellTerms &tell, const DeviceQueues *queues = nullptr);
ResidueTerms terms_modulo(const PeriodicPlan &plan, const IntegerEntries &entries,
                          const std::vector<std::uint64_t> &primes, std::int64_t first, std::int64_t count);

// The same of open ends by an operator that is not written out (table_program.hpp): on devices, each with a
// share of the primes, which lie below 2^47, or, if they are null, the processor. Throws Error
// (PERM_REFUSED_MEMORY), JitError.
void find_by_table(const PeriodicPlan &plan, const Residues &residues, std::int64_t first, std::int64_t count,
                   const DeviceQueues *queues, const TellTerms &tell);

// The same, by the recurrence that the terms obey where these lie far out.
bool recurs(const PeriodicPlan &plan, std::int64_t first);
void find_by_recurrence(const PeriodicPlan &plan, const IntegerEntries &entries,
                        const std::vector<std::uint64_t> &primes, std::int64_t first, std::int64_t count,
                        const TellTerms &tell, const DeviceQueues *queues = nullptr);

// Modulo a prime below 2^62. Throws Error (PERM_BAD_OPTION) where the entries have no values there, or are
// complex.
std::vector<std::uint64_t> terms_modulo_prime(const PeriodicPlan &plan, std::uint64_t prime,
                                              std::int64_t first, std::int64_t count);

// Seconds on one thread, roughly; `bits` of the largest term.
double modular_seconds(const PeriodicPlan &plan, std::uint64_t prime, std::int64_t first, std::int64_t count);
double exact_seconds(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, double bits);
// By a table, for each prime.
double table_seconds(const PeriodicPlan &plan, std::int64_t last);

// Where a table's work runs is asked of this: seconds on one thread, and on a GPU that has begun, and its
// bytes there.
Work placed_table(const PeriodicPlan &plan, double cpu_seconds, double gpu_seconds, double gpu_bytes,
                  bool is_shared);

// Linear recurrences modulo a prime.

// c with c[0] = 1 and sum_j c[j] a[n - j] = 0 for all n >= order, the shortest there is; modulo an odd p <
// 2^62 (Berlekamp; Massey, IEEE Trans. Inf. Theory 15 (1969)). It is that of the whole sequence if the terms
// are twice as many as an order that the sequence is known to have.
struct Recurrence {
    std::vector<std::uint64_t> c{1};
    std::size_t order = 0; // c may be shorter: a(0), ..., of which a term depends no more
};
Recurrence shortest_recurrence(const std::vector<std::uint64_t> &terms, std::uint64_t p);

// a(n) from the first `order` terms: x^n modulo the characteristic polynomial (Fiduccia, SIAM J. Comput. 14
// (1985)).
std::uint64_t term_of(const Recurrence &recurrence, const std::vector<std::uint64_t> &terms, std::uint64_t n,
                      std::uint64_t p);

// Whole numbers and fractions from residues modulo primes, which are found in pieces: some primes each.

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
