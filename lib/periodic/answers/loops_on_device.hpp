// Traces of an operator's powers on a device, modulo primes below 2^47: many starts at once, each with a
// number in every state.
#pragma once

#include "jit/queue/device_queue.hpp"
#include "lib/number/residues.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// a(first), a(first + 1), ... of joined ends, by prime, by term. Throws Error, JitError.
std::vector<std::vector<std::uint64_t>> traces_on_device(DeviceQueue &queue, const PeriodicPlan &plan,
                                                         const Residues &residues, std::int64_t first,
                                                         std::int64_t count, RunControl &control);

} // namespace libperm
