// Orders of lines in which a matrix is quasi-separable, perhaps but for a band, looked for among a few: as
// given, or sorted by values, as the distances of points on a line are where the points are sorted.
#pragma once

#include "lib/structure/separable/generators.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace libperm {

struct SeparableShape {
    LineOrder order;
    std::size_t above = 0, below = 0; // kinds on each side of the diagonal, or of the band
    Band band;
};

// The cheapest of those that are found. Residues above half the prime count as negative where values are
// sorted. The shape serves modulo other primes (`generators_of` its order), with as many kinds at most,
// unless this prime divides a minor that is not 0: by bad luck, or by one who chose the matrix for it.
std::optional<SeparableShape> separable_shape(const DenseResidues &matrix);

// Told by ranks alone, so that neither signs nor factors of lines count, nor whether numbers can be sorted.
//
// Where blocks above the diagonal are of that rank, r. Of any r rows B that come before the others, and r
// columns P behind the others, a[k,j] - a[k,P] a[B,P]^-1 a[B,j] is 0 where row k comes before column j, and
// mostly nowhere else: so lines are sorted by how many of these are not 0. Which B and P are at the ends is
// looked for by how many lines they tell apart, from a random beginning. None: they tell few; the order is
// not sure to serve, and another beginning may bring another one.
std::optional<LineOrder> order_by_ranks(const DenseResidues &matrix, std::size_t rank, std::uint64_t seed);

} // namespace libperm
