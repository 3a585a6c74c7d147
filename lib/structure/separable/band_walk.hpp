// Permanents of quasi-separable matrices with a band modulo a prime. A state is the set of known lines (bits)
// that wait, in the band, and how many of each kind wait behind it.
#pragma once

#include "lib/structure/separable/band_moves.hpp"
#include "lib/structure/separable/generators.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace libperm {

// As `separable_permanent`; rows and columns come in pairs.
std::uint64_t band_permanent(const Generators &generators, const std::function<void(double)> &done);

} // namespace libperm
