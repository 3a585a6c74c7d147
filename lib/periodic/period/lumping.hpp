// States from which the same leads to the end, in every number of steps, are one state: what is summed over
// them is all that counts (ordinary lumpability; Kemeny and Snell, Finite Markov Chains, 1960, section 6.3).
// Symmetries of a cell make such states, and so does chance.
#pragma once

#include "lib/periodic/period/period_operator.hpp"
#include "preprocess/gaussian.hpp"
#include "preprocess/poll.hpp"

#include <vector>

namespace libperm {

// `values`: of the moves' entries. Equal values are equal moves.
void lump(OpenOperator &op, const std::vector<Gaussian> &values, const Poll &poll);

} // namespace libperm
