// The tree engine where a grid of doubles does not hold the row sums: what it cuts off of signed and complex
// entries of full mantissas may change more of the permanent than the tolerance allows.
#pragma once

#include "lib/run/candidate.hpp"
#include "lib/run/engine_input.hpp"

#include <vector>

namespace libperm {

// What to compute the lines in instead of the plan's doubles, the cheapest first; none where doubles may meet
// the plan's tolerance themselves. The lines, A or A^T as the plan has it, are known without
// error, or there are none either.
std::vector<Wider> tree_in_wider(const Candidate &c, const EngineInput &lines);

} // namespace libperm
