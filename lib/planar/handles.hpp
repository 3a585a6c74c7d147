// A drawing of a few handles as one in the plane with a few crossings.
#pragma once

#include "lib/planar/faces.hpp"

#include <cstddef>
#include <vector>

namespace libperm {

// Entries, ascending, without which the drawing is one in the plane: one for each handle, if all goes well.
// Empty: there is no handle, or so many are not enough.
std::vector<std::int32_t> entries_on_handles(const PatternGraph &graph, Rotation rotation, std::size_t most,
                                             const Poll &poll = no_poll);

} // namespace libperm
