// From residues modulo primes back to the integer that they are of.
#pragma once

#include "preprocess/gaussian.hpp"
#include "preprocess/poll.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// The integer below half the product of the primes in absolute value. `gaussian`: the Gaussian integer with
// such parts; each prime stands there twice, and residues are as in residues_of (lib/number/residues.hpp).
Gaussian from_residues(const std::vector<std::uint64_t> &primes, const std::vector<std::uint64_t> &residues,
                       bool gaussian, const Poll &poll = no_poll);

} // namespace libperm
