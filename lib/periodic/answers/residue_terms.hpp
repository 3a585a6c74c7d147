// Permanents of a periodic matrix modulo primes.
#pragma once

#include "jit/queue/device_queue.hpp"
#include "lib/number/residues.hpp"
#include "lib/periodic/answers/lane_walk.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/run/placement.hpp"
#include "preprocess/limits.hpp"

#include <cstdint>
#include <gmpxx.h>
#include <vector>

namespace libperm {

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

// The terms of the whole numbers, modulo primes.
void find_modulo(const PeriodicPlan &plan, const IntegerEntries &entries,
                 const std::vector<std::uint64_t> &primes, std::int64_t first, std::int64_t count,
                 const TellTerms &tell);
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
                        const TellTerms &tell);

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

} // namespace libperm
