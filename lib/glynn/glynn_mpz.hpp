// The sum over signs of integers in as many words as it takes: exact.
#pragma once

#include "lib/glynn/small_matrix.hpp"
#include "lib/input/call_watch.hpp"

#include <gmpxx.h>

namespace libperm {

// The matrix `is_integer`. It takes up to tenths of a second, which the watch may stop: Error is thrown then.
mpz_class glynn_mpz(const SmallMatrix &a, int threads, const CallWatch &watch);

} // namespace libperm
