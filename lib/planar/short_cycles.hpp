// A drawing on a surface of few handles, guessed from short cycles, which lattices have as faces.
#pragma once

#include "lib/planar/faces.hpp"

#include <optional>

namespace libperm {

// None: it has more handles, or none with so few was found. O(n + nnz).
std::optional<Rotation> rotation_by_short_cycles(const PatternGraph &graph, std::int32_t most_genus,
                                                 const Poll &poll = no_poll);

} // namespace libperm
