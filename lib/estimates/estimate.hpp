// What is known of a permanent that was estimated.
#pragma once

#include "lib/bounds/interval.hpp"

#include <cstdint>

namespace libperm {

struct MatrixEstimate {
    Scaled re, im;
    Scaled lower, upper;           // of the real part, with their signs
    Scaled error;                  // of additive ones: |estimate - perm| <= error
    double epsilon = 0, delta = 0; // what is guaranteed; 0: exact; epsilon infinite: additive
    bool exact = false, additive = false;
    std::int64_t samples = 0, accepted = 0;
    const char *method = "exact"; // static
    std::int64_t blocks = 0, blocks_exact = 0;
    double seconds_plan = 0;
};

} // namespace libperm
