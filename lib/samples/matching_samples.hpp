// Samples of matchings: each with the probability that its product has in the sum over all (perm_sample).
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"
#include "lib/run/run_control.hpp"

#include <cstdint>

namespace libperm {

// Of the options threads, limits and seed (of the order search) count. `values` as read_values has them, in
// the pattern's order, which says too what the caller gave. Throws Error.
void sample_matchings(const InputPattern &input, const Values &values, std::int64_t shots, std::uint64_t seed,
                      const Options &options, RunControl &control, std::int64_t *columns);

} // namespace libperm
