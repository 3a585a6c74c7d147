// Drawings on surfaces of a few handles, and as ones in the plane with a few crossings.
#pragma once

#include "lib/planar/faces.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace libperm {

// Guessed from short cycles, which lattices have as faces. None: it has more handles, or none with so few was
// found. O(n + nnz).
std::optional<Rotation> rotation_by_short_cycles(const PatternGraph &graph, std::int32_t most_genus);

// Entries, ascending, without which the drawing is one in the plane: one for each handle, if all goes well.
// Empty: there is no handle, or so many are not enough.
std::vector<std::int32_t> entries_on_handles(const PatternGraph &graph, Rotation rotation, std::size_t most);

} // namespace libperm
