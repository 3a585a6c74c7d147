// The sum over signs of integers in as many words as it takes: exact.
#pragma once

#include "lib/input/call_watch.hpp"
#include "lib/small/small_matrix.hpp"

#include <gmpxx.h>

namespace libperm {

// Of one that `is_whole`. Tenths of a second, which the watch may stop: Error is thrown then.
mpz_class sum_in_long_integers(const SmallMatrix &a, int threads, const CallWatch &watch);

} // namespace libperm
