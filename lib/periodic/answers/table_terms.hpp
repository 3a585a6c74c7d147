// The permanents of open ends by an operator that is not written out (table_program.hpp), modulo primes.
#pragma once

#include "jit/queue/device_queues.hpp"
#include "lib/number/residues.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/periodic/answers/told_terms.hpp"
#include "lib/run/placement.hpp"

#include <cstdint>

namespace libperm {

// a(first), a(first + 1), ... On devices, each with a share of the primes, which lie below 2^47, or, if they
// are null, the processor. Throws Error (PERM_REFUSED_MEMORY), JitError.
void find_by_table(const PeriodicPlan &plan, const Residues &residues, std::int64_t first, std::int64_t count,
                   const DeviceQueues *queues, RunControl &control, const TellTerms &tell);

// Seconds on one thread, roughly, for each prime.
double table_seconds(const PeriodicPlan &plan, std::int64_t last);

// Where a table's work runs is asked of this: seconds on one thread, and on a GPU that has begun, and its
// bytes there.
Work placed_table(const PeriodicPlan &plan, double cpu_seconds, double gpu_seconds, double gpu_bytes,
                  bool is_shared);

} // namespace libperm
