// Small matrices made to break error bounds.
#pragma once

#include "bench/families.hpp"
#include "tests/support/oracle.hpp"

#include <string>

// Of order 1 .. largest, of doubles: full mantissas, sizes from subnormal to 1e300, of both signs or of none,
// real or complex; rows repeated, columns against each other, a permanent as near 0 as doubles allow.
oracle::GaussianMatrix adversarial(std::int64_t largest, perm::families::Random &random);

// Row by row, every entry's parts in hexadecimal.
std::string text_of(const oracle::GaussianMatrix &a);
