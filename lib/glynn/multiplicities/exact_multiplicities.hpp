// Few kinds of lines, many of each: exactly, without the matrix being written out.
#pragma once

#include "lib/input/options.hpp"
#include "lib/run/results.hpp"

#include <perm.h>

#include <cstdint>
#include <optional>

namespace libperm {

struct ExactMultiplicities {
    Outcome outcome; // not rounded
    std::int64_t n = 0, nnz = 0;
};

// A sum over counts (lib/ryser/engine.hpp) modulo primes, of what would have millions of entries, in memory
// for the kinds alone. Empty where the general road is to answer: the matrix is smaller, has too many kinds,
// or the options want something else. Throws Error when stopped by its call.
std::optional<ExactMultiplicities> compute_exact_multiplicities(const perm_csr *a, const Options &options);

} // namespace libperm
