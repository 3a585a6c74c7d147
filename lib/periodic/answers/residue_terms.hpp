// Permanents of a periodic matrix modulo primes, and from these the whole numbers.
#pragma once

#include "jit/queue/device_queues.hpp"
#include "lib/number/residues.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/run/outcome.hpp"

#include <gmpxx.h>

#include <cstdint>
#include <vector>

namespace libperm {

// Whole numbers in place of the entries; the permanent of these is per_cell^m of_ends times that of A.
struct IntegerEntries {
    std::vector<mpz_class> re, im; // by move's entry; no `im` if all are real
    mpz_class per_cell = 1, of_ends = 1;
};
IntegerEntries integer_entries(const PeriodicPlan &plan, const Poll &poll);

// The factor of m cells is at most 2^factor_bits, and hardly less.
double factor_bits(const IntegerEntries &entries, std::int64_t m);

// The length of primes that is best for numbers of so many bits.
int bits_of_primes(const PeriodicPlan &plan, double bits);

// The terms of the whole numbers, by prime, by term. Gaussian integers have each prime twice
// (lib/number/residues.hpp).
using ResidueTerms = std::vector<std::vector<std::uint64_t>>;
ResidueTerms terms_modulo(const PeriodicPlan &plan, const IntegerEntries &entries,
                          const std::vector<std::uint64_t> &primes, std::int64_t first, std::int64_t count,
                          RunControl &control);

// The same, by the recurrence that the terms obey where these lie far out.
ResidueTerms terms_by_recurrence(const PeriodicPlan &plan, const IntegerEntries &entries,
                                 const std::vector<std::uint64_t> &primes, std::int64_t first,
                                 std::int64_t count, RunControl &control);

// The same on devices, each with a share of the primes, which lie below 2^47. Throws Error, JitError.
ResidueTerms terms_on_devices(const DeviceQueues &queues, const PeriodicPlan &plan, const Residues &residues,
                              std::int64_t first, std::int64_t count, RunControl &control);

// Whether exact numbers may be found on a GPU: traces that are walked to.
bool walks_on_device(const PeriodicPlan &plan, std::int64_t first);

// a(first), a(first + 1), ... exactly; `count` > 1 or not. On the devices of the plan's options.
std::vector<Outcome> exact_terms(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                                 RunControl &control);

// Modulo a prime below 2^62. Throws Error (PERM_BAD_OPTION) where the entries have no values there, or are
// complex.
std::vector<std::uint64_t> terms_modulo_prime(const PeriodicPlan &plan, std::uint64_t prime,
                                              std::int64_t first, std::int64_t count, RunControl &control,
                                              bool &on_gpu);

// Joined ends far out may have their operator squared, here or on a GPU.
bool squares_modulo(const PeriodicPlan &plan, std::uint64_t prime, std::int64_t first, std::int64_t count);

// Seconds on one thread, roughly; `bits` of the largest term.
double modular_seconds(const PeriodicPlan &plan, std::uint64_t prime, std::int64_t first, std::int64_t count);
double exact_seconds(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, double bits);

} // namespace libperm
