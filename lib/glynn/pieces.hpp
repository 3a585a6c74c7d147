// A sum's steps in pieces that follow from its order alone, so that threads do not show in the result.
#pragma once

#include "lib/base/threads.hpp"
#include "lib/glynn/small_matrix.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>

namespace libperm {

constexpr int subset_bits_of_piece = 12; // tens of microseconds
constexpr int least_order_in_pieces = 16;

constexpr std::size_t most_sign_pieces = std::size_t{1} << (most_small_order - 1 - subset_bits_of_piece);

// Of so many steps over the 2^(n-1) signs, a power of two.
inline std::uint64_t steps_of_piece(int n, std::uint64_t steps) {
    return n < least_order_in_pieces ? steps : steps >> (n - 1 - subset_bits_of_piece);
}

template <class Work> void in_pieces(std::uint64_t pieces, int threads, const Work &work) {
    if (threads > 1 && pieces > 1)
        with_threads(threads, [&] { parallel_for(pieces, work); });
    else
        for (std::uint64_t k = 0; k < pieces; ++k) work(k);
}

} // namespace libperm
