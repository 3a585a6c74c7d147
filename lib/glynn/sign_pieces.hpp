// How the steps of a sum over signs fall into pieces.
#pragma once

#include "lib/glynn/small_matrix.hpp"
#include "lib/run/numbered_sum.hpp"

namespace libperm {

constexpr int subset_bits_of_piece = 12; // tens of microseconds
constexpr int least_order_in_pieces = 16;

// Over the 2^(n-1) signs there are so many steps, a power of two.
inline NumberedPieces sign_pieces(int n, std::uint64_t steps) {
    return NumberedPieces::so_many(steps,
                                   n < least_order_in_pieces ? 1 : 1 << (n - 1 - subset_bits_of_piece));
}

} // namespace libperm
