// The sum over signs in integers: modulo 2^64 or 2^128, where the permanent is known to be smaller, or in
// as many words as it takes. Exact. And how the steps of any sum over signs fall into pieces.
#pragma once

#include "lib/glynn/small_matrix.hpp"
#include "lib/input/call_watch.hpp"
#include "lib/run/numbered_sum.hpp"

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

// How the steps of a sum over signs fall into pieces.

constexpr int subset_bits_of_piece = 12; // tens of microseconds
constexpr int least_order_in_pieces = 16;

// Over the 2^(n-1) signs there are so many steps, a power of two.
inline NumberedPieces sign_pieces(int n, std::uint64_t steps) {
    return NumberedPieces::so_many(steps,
                                   n < least_order_in_pieces ? 1 : 1 << (n - 1 - subset_bits_of_piece));
}

} // namespace libperm
