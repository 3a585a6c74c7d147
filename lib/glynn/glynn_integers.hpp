// The sum over signs in integers: modulo 2^64 or 2^128, where the permanent is known to be smaller, or in as
// many words as it takes. Exact.
#pragma once

#include "lib/glynn/small_matrix.hpp"
#include "lib/input/call_watch.hpp"

#include <gmpxx.h>
#include <optional>

namespace libperm {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

struct IntegerPermanent {
    Int128 re = 0, im = 0;
    std::int64_t exp2 = 0; // times 2^exp2
};

// Empty where the entries are no short multiples of powers of two, row by row, or it would take longer than
// doubles do and `wants_every_digit` is not set.
std::optional<IntegerPermanent> glynn_int128(const SmallMatrix &a, bool wants_every_digit, int threads);

// The matrix `is_integer`. It takes up to tenths of a second, which the watch may stop: Error is thrown then.
mpz_class glynn_mpz(const SmallMatrix &a, int threads, const CallWatch &watch);

} // namespace libperm
