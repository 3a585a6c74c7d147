// All shots of a plan of walks by pieces that anybody may walk: a piece is a run of chunks.
#pragma once

#include "lib/samples/walk_sampler.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// Expected to be enough; both follow from the plan alone.
std::uint64_t walk_pieces(const WalkPlan &plan);
double serial_seconds(const WalkPlan &plan);

// Of each shot, one after the other, the column of each row. Pieces that the control's store has are taken
// from it, others left there; where it wants those of one shard alone nothing is told. The arena of `options`
// must be entered. Progress is a second of one thread. Throws Error.
std::vector<std::int32_t> walked_in_pieces(const WalkPlan &plan, const Options &options, RunControl &control);

} // namespace libperm
