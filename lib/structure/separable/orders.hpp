// Orders of lines in which a matrix is quasi-separable, perhaps but for a band, looked for among a few: as
// given, or sorted by values, as the distances of points on a line are where the points are sorted.
#pragma once

#include "lib/structure/separable/generators.hpp"

#include <cstddef>
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
std::optional<SeparableShape> separable_shape(const DenseResidues &matrix, const Poll &poll = no_poll);

} // namespace libperm
