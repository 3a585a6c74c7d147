// Walks through a matrix, its lines in a given order, on which few kinds of lines wait: rows and columns come
// by turns, as the matrix says.
#pragma once

#include "lib/structure/separable/generators.hpp"

#include <optional>

namespace libperm {

// With the fewest kinds that are found, about; none: more than `most_kinds` on a side. `order` has pairs. A
// matrix of rank r has r kinds on one side and none on the other: all its rows come first.
std::optional<LineOrder> path_through(const DenseResidues &matrix, const LineOrder &order,
                                      const Poll &poll = no_poll);

} // namespace libperm
