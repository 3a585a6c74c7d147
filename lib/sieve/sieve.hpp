// Engine `sieve`: permanents of small integers, of zeros and ones most of all, by the sum over signs without
// the terms that vanish (E. Bax, J. Franklin, A permanent algorithm with exp(Omega(n^(1/3) / 2 ln n))
// expected speedup for 0-1 matrices, Algorithmica 32 (2002); docs/sieve.md).
#pragma once

#include "lib/run/engine_run.hpp"

namespace libperm {

// Of residues. The walk is one for all primes, and exact. Progress is counted in prefixes.
EngineResult run_sieve(const EngineRun &run, const EngineInput &input);

} // namespace libperm
