// A pattern's bipartite graph drawn in the plane without crossings (Boyer and Myrvold, J. Graph Algorithms
// Appl. 8, 2004), as what the drawing cuts the plane into.
#pragma once

#include "preprocess/pattern.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace libperm {

// Entries in the order in which they go round a face: each stands in two faces, or twice in one.
struct Faces {
    std::vector<std::vector<std::int32_t>> entries;
};

// None: no drawing without crossings exists. O(n + nnz); n planar rows have 4n - 4 entries at most, and more
// are told at once.
std::optional<Faces> faces_of(const Pattern &a);

} // namespace libperm
