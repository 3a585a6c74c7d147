// A tape as long as memory allows, for what goes back along the frontier: derivatives, samples.
#pragma once

#include "lib/input/options.hpp"
#include "lib/run/call.hpp"
#include "lib/tape/tape_steps.hpp"

namespace libperm {

struct TapeWish {
    double most_moves = 0x1p32;
    // Who has another way for what is a little longer: where a path has too many moves, but not so many, no
    // tree is looked for.
    double far_moves = 0;
};

// Along a path, or on a tree where this has less than half as many moves. `who` keeps the states, in the
// texts of refusals: "a gradient". Throws Error (PERM_REFUSED_MEMORY, PERM_UNSUPPORTED).
Tape long_tape(const TapePattern &pattern, const Options &options, const char *who,
               const TapeWish &wish = {});

std::int64_t bytes_of(const Tape &tape);

} // namespace libperm
