// A permanent as the caller gets it.
#pragma once

#include "lib/run/outcome.hpp"

#include <perm.h>

#include <string>

namespace libperm {

struct Answer {
    std::string text;
    double re = 0, im = 0;
    double mantissa_re = 0, mantissa_im = 0; // of 2^exp2; the larger in [1/2, 1), or both 0
    std::int64_t exp2 = 0;
    Scaled error; // |text - perm(A)| <= error
};

// Exact fractions in full, "p/q", or as decimals of all their bits.
Answer answer_of(const Outcome &outcome, bool fractions = true);

// Its numbers, not its text.
void put(const Answer &answer, perm_result &result);

} // namespace libperm
