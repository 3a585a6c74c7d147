// What a call of perm_compute asks for, if that is what small matrices' own road gives.
#pragma once

#include "lib/input/call_watch.hpp"
#include "lib/input/engine.hpp"
#include "lib/input/input_pattern.hpp"
#include "lib/number/precision.hpp"

#include <perm.h>

#include <cstdint>
#include <optional>

namespace libperm {

struct Plan;

struct SmallRequest {
    double tolerance = 1e-9;
    int threads = 0; // 0: one for each core
    CallWatch watch;
    Precision precision = Precision::automatic; // or double_ or, which integers alone get here, exact
    MatrixFunction function = MatrixFunction::permanent;
};

// Nothing is parsed or looked up: options that say more than the usual are for the general road, and so are
// those at fault.
std::optional<SmallRequest> small_request(const perm_opts *opts);

// The sum over signs, or over counts, that perm_compute would begin with for the plan's matrix and options.
struct StraightRoad {
    Engine engine;
    double terms;
    const char *what; // these are
};
std::optional<StraightRoad> straight_road(const Plan &plan); // none if it would not begin with one

// That the plan's executions begin with: as perm_compute, where the pattern is full, and on a named GPU, too.
std::optional<StraightRoad> executed_straight(const Plan &plan);

// Whether the sum over signs comes first: what there is to gain otherwise takes longer to look for.
bool is_small_and_dense(std::int64_t n, std::int64_t nnz);

} // namespace libperm
