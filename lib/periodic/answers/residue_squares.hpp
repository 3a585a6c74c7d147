// Joined ends far out, modulo a prime: the operator as full matrices of residues, squared again and again.
#pragma once

#include "lib/number/residues.hpp"
#include "lib/periodic/answers/device_choice.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/periodic/power/dense_machine.hpp"

#include <cstdint>

namespace libperm {

// a(m) of the whole numbers that `residues` are, modulo its first prime.
std::uint64_t trace_modulo(DenseMachine &machine, const PeriodicPlan &plan, const Residues &residues,
                           std::int64_t m, RunControl &control);

// What that takes on one thread, and on a device.
DeviceWork residue_squares_work(const PeriodicPlan &plan, std::int64_t m, std::uint64_t prime);

} // namespace libperm
