// What an engine hands back.
#pragma once

#include "lib/input/engine.hpp"
#include "lib/number/ball.hpp"
#include "lib/number/wide_value.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace libperm {

struct Outcome {
    Scaled value;
    std::optional<Gaussian> wide; // the value, where a double is not enough for it; `value` is then its size
    double rel_error_bound = 0;   // of `value`, for certain, rounded up; infinity when no digit is
    Scaled error;                 // absolute bound of the error, in the same way
    bool exact = false;
    bool grid_matters =
        false; // entries were rounded to a grid, and signs differ (lib/subsets/fixed_point_double.hpp)
    double subsets = 0, states = 0, peak_states = 0, operations = 0;
    std::int64_t peak_bytes = 0;

    // Of a whole plan: blocks, those not identical to another, and what computed the one that takes longest.
    std::int64_t blocks = 0, blocks_computed = 0;
    Engine engine = Engine::none;
    bool transposed = false, on_gpu = false;
    double predicted_seconds = 0;

    double seconds_compile = 0; // from the request of kernels to their being loaded, over all blocks
    std::int32_t kernels_compiled = 0;
    std::int32_t slices = 0; // that the frontier's tables were cut into, over all blocks
};

// By the relative bound; where none is known, by the absolute one.
bool is_better(const Outcome &x, const Outcome &y);

// What `work` comes to, if it is better; whether it was. What the limits stop is not.
bool take_if_better(Outcome &outcome, const std::function<Outcome()> &work, bool goes_on = false);

// Fills value and bounds for a computed value with an absolute error bound, both times 2^exp2:
// |value - perm| <= error gives |value - perm| <= bound * |perm| with bound = error / (|value| - error).
void set_value(Outcome &outcome, double value, double error, std::int64_t exp2);
void set_value(Outcome &outcome, const Ball &ball);
void set_value(Outcome &outcome, const WideBall &ball);
// `parts` times 2^exp2, within `error` times 2^exp2 of the truth.
void set_value(Outcome &outcome, const Parts &parts, double error, std::int64_t exp2);

// The bound that set_value fills in, however far below the range of double.
inline Scaled relative_error(const Outcome &outcome) { return relative_error(outcome.value, outcome.error); }

} // namespace libperm
