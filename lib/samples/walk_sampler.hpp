// Matchings by rejection, where no frontier fits: walks along the columns are accepted with the probability
// of their value (docs/estimates.md, "The bound that samples keep"), so that each matching comes through in
// proportion to its product.
#pragma once

#include "lib/input/options.hpp"
#include "lib/run/run_control.hpp"
#include "preprocess/pattern.hpp"
#include "preprocess/tracked.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// Of a matrix with a perfect matching, entries above 0: of each shot, for each row, the column: [shot * n +
// row]. Shot k is the k-th that comes through, whoever draws. Throws Error (PERM_REFUSED_TIME) where that is
// predicted to take longer than the options say, on their threads; the arena of these must be entered.
std::vector<std::int32_t> walk_samples(const Pattern &a, const std::vector<Tracked> &entries,
                                       std::int64_t shots, std::uint64_t seed, const Options &options,
                                       RunControl &control);

} // namespace libperm
