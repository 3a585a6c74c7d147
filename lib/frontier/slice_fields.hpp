// Slices of a frontier as they are written, in saved plans and in the names of what was computed in them.
#pragma once

#include "lib/base/fields.hpp"
#include "preprocess/frontier_slices.hpp"

namespace libperm {

template <class Archive> void serialize(Archive &ar, FixedLine &fixed) {
    ar(fixed.cut, fixed.line);
    flags(ar, fixed.before);
}

} // namespace libperm
