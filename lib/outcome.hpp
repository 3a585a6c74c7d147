// What an engine hands back.
#pragma once

#include "lib/scaled.hpp"

#include <cstdint>

namespace libperm {

struct Outcome {
    Scaled value;
    double rel_error_bound = 0; // of `value`, for certain; infinity when no digit is
    bool exact = false;
    double subsets = 0, states = 0, peak_states = 0, operations = 0;
    std::int64_t peak_bytes = 0;
};

// The bound of DESIGN §8 from an absolute one: |value - perm| <= error gives |value - perm| <= bound *
// |perm|.
double relative_bound(double value, double absolute_error);

// Rounding `roundings` times on the way of each term changes a sum of terms by at most this share of the sum
// of their absolute values (Higham, Accuracy and Stability, Lemma 3.1: gamma_k).
double gamma_bound(double roundings);

} // namespace libperm
