// Drawings of a graph without crossings on closed surfaces, and what they cut these into.
#pragma once

#include "lib/planar/graph.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace libperm {

// Of each dart the next one round the line that it leaves. Any such order is a drawing on an orientable
// surface, of discs that the faces are (Heffter, Math. Ann. 38, 1891; Edmonds 1960): it needs no other proof.
using Rotation = std::vector<Dart>;

// What is left of a pattern.
Pattern with_entries(const Pattern &a, const std::vector<char> &is_kept);

// In the plane (Boyer and Myrvold, J. Graph Algorithms Appl. 8, 2004). None: that is impossible. O(n + nnz);
// a planar graph of n lines has 2n - 4 entries where it has two sides, else 3n - 6 at most, and more are told
// at once.
std::optional<Rotation> planar_rotation(const Pattern &a);

// The darts of each face, one after the other: an entry stands in two faces, or twice in one.
struct Faces {
    std::vector<std::vector<Dart>> darts;
    std::vector<std::int32_t> of_dart;
};
Faces faces_of(const Rotation &rotation);

// Handles of the surface, by Euler's formula: of all connected parts together.
std::int32_t genus_of(const Rotation &rotation, const Faces &faces);

} // namespace libperm
