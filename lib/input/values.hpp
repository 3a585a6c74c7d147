// A matrix's numbers, as the library has them.
#pragma once

#include "preprocess/gaussian.hpp"

#include <vector>

namespace libperm {

// The entries, in the pattern's order.
struct Values {
    std::vector<double> real;   // if they all fit
    std::vector<Gaussian> wide; // else

    bool empty() const { return real.empty() && wide.empty(); }
};

} // namespace libperm
