// What comes of a run: of an engine's work on a block, with the error that the block's values came with; of
// all blocks; and the permanent as the caller gets it.
#pragma once

#include "lib/input/engine.hpp"
#include "lib/number/ball.hpp"
#include "preprocess/block.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <perm.h>
#include <string>
#include <variant>
#include <vector>

namespace libperm {

// What a computation took; `states` and `subsets` are those met, `operations` multiply-adds.
struct Counts {
    double subsets = 0, states = 0, peak_states = 0, operations = 0;
    std::int64_t peak_bytes = 0;
    double seconds_compile = 0; // from the request of kernels to their being loaded
    std::int32_t kernels_compiled = 0;
    std::int32_t slices = 0; // that the frontier's tables were cut into

    Counts &operator+=(const Counts &other); // one after the other
};

using ResidueVector = std::vector<std::uint64_t>; // by matrix of Residues

struct EngineResult {
    std::variant<Ball, WideBall, ResidueVector> value; // of a Block, an ExactBlock, Residues
    Counts counts;
    bool grid_matters =
        false; // entries were rounded to a grid, and signs differ (lib/subsets/kernel_values.hpp)
};

// What was computed from the block's values, `value` times 2^exp2 within `error` times 2^exp2, as the
// permanent of what these values stand for.
Ball ball_from(const Block &block, double value, double error, std::int64_t exp2);

// A permanent, how far from the truth it can be, and what it took.

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

// A permanent as the caller gets it.

struct Answer {
    std::string text;
    double re = 0, im = 0;
    double mantissa_re = 0, mantissa_im = 0; // of 2^exp2; the larger in [1/2, 1), or both 0
    std::int64_t exp2 = 0;
    Scaled error; // |text - perm(A)| <= error
};

// Exact fractions in full, "p/q", or as decimals of all their bits.
Answer answer_of(const Outcome &outcome, bool fractions = true);

// Its numbers, not its text.
void put(const Answer &answer, perm_result &result);

} // namespace libperm
