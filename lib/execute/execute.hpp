// A plan and values in, the permanent out: the blocks of the matrix computed, their products and sums.
#pragma once

#include "lib/plan/plan.hpp"
#include "lib/run/piece_store.hpp"
#include "lib/run/results.hpp"

namespace libperm {

// Values by entry of the plan's pattern; the call is the whole call's. `store` (may be null): the parts that
// are known, and those that are computed. Throws Error.
Outcome execute(const Plan &plan, const Values &values, PieceStore *store = nullptr);

// What doubles can tell is told in doubles, but for a tolerance that only this rounding would miss; an exact
// fraction as the number that was asked for, unless that was exact.
void round_off(const Options &options, Outcome &outcome);

// Why these values are not computed by this plan, but by one that would be made anew for them; or null.
const char *why_planned_anew(const Plan &plan, const Values &values);

// Whether the limits refuse the plan whatever the values are, but for such as it is made anew for.
bool is_refused(const Plan &plan);

// This executes the plan itself, without what may follow it.
Outcome execute_once(const Plan &plan, const Values &values, PieceStore *store);

} // namespace libperm
