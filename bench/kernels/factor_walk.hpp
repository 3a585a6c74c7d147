// The kernel of an operator of ones times many vectors, by the factors that a cell's rows are
// (factor_walk.cuh).
#pragma once

#include "jit/compile/kernels.hpp"

#include <cstdint>

namespace bench {

// What follows stands in factor_walk.cuh as well.
constexpr unsigned walk_warp = 32, walk_threads = 256, walk_together = 4;

struct FactorWalk {
    std::uint64_t from, to, first, source; // addresses
    std::uint32_t states, lanes;
    double prime, inverse;
};

constexpr const char *factor_walk_entry = "factor_walk";

libperm::KernelRecipe factor_walk_kernels(); // modulo primes below 2^47

} // namespace bench
