// Plans as bytes, the same on every machine, within what is sealed: saved tasks and checkpoints.
#pragma once

#include "lib/plan/plan.hpp"

#include <string>
#include <string_view>

namespace libperm {

std::string bytes_of(const Plan &plan);

inline bool is_same_precision(const Options &x, const Options &y) {
    return x.precision == y.precision && x.mpfr_bits == y.mpfr_bits && x.modulus == y.modulus;
}

// The machine's and the caller's options are those of `caller`, which may ask for nothing else than the plan
// has. Throws Error: PERM_BAD_ARGUMENT, PERM_BAD_OPTION.
Plan plan_of(std::string_view bytes, const Options &caller);

// 32 hexadecimal digits for what the plan's results follow from: not for what was predicted, nor for limits
// and threads.
std::string digest_of(const Plan &plan);

std::string digest_of(const InputPattern &input);

} // namespace libperm
