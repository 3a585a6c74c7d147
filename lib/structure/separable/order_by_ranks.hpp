// An order of the lines of a quasi-separable matrix, which may be given in any: told by ranks alone, so that
// neither signs nor factors of lines count, nor whether numbers can be sorted.
#pragma once

#include "lib/structure/separable/generators.hpp"

#include <cstdint>
#include <optional>

namespace libperm {

// Where blocks above the diagonal are of that rank, r. Of any r rows B that come before the others, and r
// columns P behind the others, a[k,j] - a[k,P] a[B,P]^-1 a[B,j] is 0 where row k comes before column j, and
// mostly nowhere else: so lines are sorted by how many of these are not 0. Which B and P are at the ends is
// looked for by how many lines they tell apart, from a random beginning. None: they tell few; the order is
// not sure to serve, and another beginning may bring another one.
std::optional<LineOrder> order_by_ranks(const DenseResidues &matrix, std::size_t rank, std::uint64_t seed,
                                        const Poll &poll = no_poll);

} // namespace libperm
