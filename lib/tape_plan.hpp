// Which states and moves a pattern has (jit/tape.hpp).
#pragma once

#include "jit/arithmetic.hpp"
#include "jit/tape.hpp"
#include "preprocess/frontier_program.hpp"
#include "preprocess/pattern.hpp"

#include <functional>
#include <optional>

namespace libperm {

// An order of the rows or columns; none is feasible if the search finds nothing within reach.
FrontierOrder find_tape_order(const Pattern &pattern, std::uint64_t seed, const std::function<void()> &poll);

// The steps that a tape is written from. `samples`: of what is reachable (preprocess/frontier_program.hpp).
FrontierProgram tape_program(const Pattern &pattern, const FrontierOrder &order, int samples = 0);

constexpr std::int32_t most_tape_slots = 64; // columns open at once: no tape of more

// With at most so many moves; no tape of more. States that no perfect matching goes through are left out, so
// that a pattern without one has no moves at all. `poll` may throw.
std::optional<Tape> make_tape(const FrontierProgram &program, const Pattern &pattern, std::int64_t most_moves,
                              const std::function<void()> &poll);
std::optional<Tape> make_tape(const Pattern &pattern, std::int64_t most_moves, std::uint64_t seed,
                              const std::function<void()> &poll);

// Roundings of a move on the way of a term: of a fused multiply-add of complex numbers both products and both
// sums round, of doubled ones the product and the sum.
constexpr double roundings_of_move(Arithmetic arithmetic) {
    return is_complex(arithmetic) ? 3 : is_twofold(arithmetic) ? 2 : 1;
}

} // namespace libperm
