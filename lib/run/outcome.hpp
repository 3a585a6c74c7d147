// A permanent, how far from the truth it can be, and what it took.
#pragma once

#include "lib/input/engine.hpp"
#include "lib/run/engine_result.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

namespace libperm {

struct Outcome {
    Scaled value;
    std::optional<Gaussian> wide; // the value, where a double is not enough for it; `value` is then its size
    double rel_error_bound = 0;   // of `value`, for certain, rounded up; infinity when no digit is
    Scaled error;                 // absolute bound of the error, in the same way
    bool exact = false;
    Counts counts; // over all blocks

    // A whole plan's: its blocks, those not identical to another, and what computed the one that takes
    // longest.
    std::int64_t blocks = 0, blocks_computed = 0;
    Engine engine = Engine::none;
    bool transposed = false, on_gpu = false;
    double predicted_seconds = 0;
};

// The relative bounds decide; where none is known, the absolute ones do.
bool is_better(const Outcome &x, const Outcome &y);

// What `work` comes to, if it is better; whether it was. What the limits stop is not.
bool take_if_better(Outcome &outcome, const std::function<Outcome()> &work, bool goes_on = false);

// Fills value and bounds: |value - perm| <= error gives |value - perm| <= bound * |perm| with
// bound = error / (|value| - error).
void set_value(Outcome &outcome, const Ball &ball);
void set_value(Outcome &outcome, const WideBall &ball);

// The wide value to so many bits, which may be no more than doubles have; `wide` is gone then.
constexpr int double_bits = std::numeric_limits<double>::digits;
void round_value(Outcome &outcome, int bits = double_bits);

// Makes an exact value its residue in 0 .. p - 1. Throws Error (PERM_BAD_OPTION) where there is none, which
// names the value as `what`.
void reduce(Outcome &outcome, std::uint64_t p, const char *what);

// The outcome has the result's value, unless that is of residues, and its counts.
Outcome outcome_of(const EngineResult &result);

// The bound that set_value fills in, however far below the range of double.
inline Scaled relative_error(const Outcome &outcome) { return relative_error(outcome.value, outcome.error); }

} // namespace libperm
