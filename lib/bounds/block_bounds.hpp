// The best bounds of one block, of all that are known here.
#pragma once

#include "lib/bounds/interval.hpp"
#include "lib/bounds/magnitudes.hpp"

namespace libperm {

struct Bounded {
    Interval interval;
    // Static: "gurvits", "bethe", "matching", "none", ...; "exact" of what was computed.
    const char *lower_method = "exact", *upper_method = "exact";
};

Bounded bounds_of_block(const Magnitudes &m);

} // namespace libperm
