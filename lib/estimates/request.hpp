// What an estimate is to come to: perm_estimate_opts, checked.
#pragma once

#include <perm.h>

#include <cstdint>

namespace libperm {

enum class EstimateMethod { automatic, nesting, rejection, glynn };

struct EstimateRequest {
    double epsilon = 0.01, delta = 0.05;
    std::uint64_t seed = 0;
    EstimateMethod method = EstimateMethod::automatic;
    std::int64_t samples = 0; // at most; 0: no limit
};

// NULL means all defaults. Throws Error (PERM_BAD_ARGUMENT, PERM_BAD_OPTION).
EstimateRequest read_request(const perm_estimate_opts *opts);

} // namespace libperm
