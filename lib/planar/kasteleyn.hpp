// Kasteleyn's signs (Physica 27, 1961; Temperley and Fisher, Phil. Mag. 6, 1961): with them every perfect
// matching of a planar pattern has the same sign in the determinant, whatever the entries are.
#pragma once

#include "lib/planar/faces.hpp"

#include <vector>

namespace libperm {

// By entry: whether it is negated. Round a face of 2k entries, with those that stand in it twice, the product
// of the signs is (-1)^(k+1); of a pattern in several parts each has faces of its own.
std::vector<char> kasteleyn_signs(const Pattern &a, const Faces &faces);

} // namespace libperm
