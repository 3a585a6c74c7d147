// A few lines without which a pattern is planar.
#pragma once

#include "preprocess/pattern.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// The entries of the longest lines, at most three, ascending: as many as it takes. Empty: that is not enough.
std::vector<std::int32_t> entries_of_crossing_lines(const Pattern &a, const Poll &poll = no_poll);

} // namespace libperm
