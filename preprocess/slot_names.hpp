// Which slots of a frontier's states are low ones.
#pragma once

#include "preprocess/frontier_steps.hpp"

namespace libperm {

// The dense form takes so many slots apart: its blocks hold subsets of them, and stay in the first-level
// cache (C(12, 6) = 924 numbers at most). Between blocks states line up, inside one an entry in a low slot
// leads to another place.
constexpr int low_slots = 12;

// Names a program's slots so that the low ones are those which entries lie in least, where there are many
// states. For programs without counters.
void name_slots(FrontierProgram &program);

} // namespace libperm
