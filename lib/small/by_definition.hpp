// Permanents of up to three rows by their definition, in twice the precision: the double next to each.
#pragma once

#include "lib/small/dense_matrix.hpp"

namespace libperm {

constexpr int most_by_definition = 3;

// Of a matrix of doubles: its number, re and, of complex ones, im; |number - perm| <= bound. False: entries
// lie too far from 1.
bool permanent_by_definition(const DenseMatrix &a, double *number, double &bound);

} // namespace libperm
