// Permanents of quasi-separable matrices modulo a prime, by a walk along the diagonal, or a band. Rows that
// wait for a column behind are alike but for their kinds, and so are columns that wait for a row: a state
// counts them. In the band lines are known by themselves: of these it has the set that waits.
#pragma once

#include "lib/structure/separable/generators.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace libperm {

// `done(x)` is told now and then that x products of numbers have been computed since; it may throw. Beside a
// band rows and columns come in pairs.
std::uint64_t separable_permanent(const Generators &generators, const std::function<void(double)> &done);

// How many products that takes, and how many bytes at most, with so many kinds above and below the diagonal,
// or the band: then the steps are pairs.
double separable_products(const std::vector<ComingLines> &steps, std::size_t above, std::size_t below,
                          const Band &band = {});
double separable_bytes(const std::vector<ComingLines> &steps, std::size_t above, std::size_t below,
                       const Band &band = {});

} // namespace libperm
