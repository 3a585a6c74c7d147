// Exact polynomials from their values, and numbers as the C API is given them beside a matrix.
#pragma once

#include "tests/support/matchings.hpp"

#include <functional>
#include <string>
#include <vector>

namespace oracle {

// The coefficients of the polynomial of so high a degree that has value(x): by Newton's divided differences
// at 0, 1, 2, ...
std::vector<Gaussian> interpolated(std::int64_t degree, const std::function<Gaussian(long x)> &value);

// A + x B, entries and weights; both have the same.
MatchingMatrix moved(const MatchingMatrix &a, const MatchingMatrix &b, long x);

} // namespace oracle

// Numbers by the places of a MatchingInput; `weights`: those of lines, too, behind the entries.
std::vector<oracle::Gaussian> numbers_beside(const MatchingInput &input, const MatchingMatrix &a,
                                             bool weights);

oracle::Gaussian number_at(const MatchingMatrix &a, const MatchingInput::Place &place);
