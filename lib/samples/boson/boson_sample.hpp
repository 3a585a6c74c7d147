// Samples of boson sampling (Clifford and Clifford, The classical complexity of boson sampling, SODA 2018,
// and Faster classical boson sampling, arXiv 2005.04214): photon by photon, each from the law that those
// before it leave, whose weights are made of all sub-permanents of one matrix (boson_shot.hpp).
#pragma once

#include "lib/input/options.hpp"
#include "lib/run/run_control.hpp"

#include <perm.h>

namespace libperm {

// Does what perm.h says of perm_boson_sample. Throws Error.
void sample_bosons(const perm_boson *a, std::int64_t shots, std::uint64_t seed, const Options &options,
                   RunControl &control, std::int64_t *occupations);

} // namespace libperm
