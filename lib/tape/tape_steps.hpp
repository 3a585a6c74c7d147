// Which states and moves a pattern has (jit/program/tape.hpp).
#pragma once

#include "jit/program/tape.hpp"
#include "preprocess/frontier_program.hpp"
#include "preprocess/pattern.hpp"

#include <functional>
#include <optional>

namespace libperm {

// An order of the rows or columns; none is feasible if the search finds nothing within reach.
// `account` (may be none) holds what is looked at meanwhile; it may throw, and so may `poll`.
FrontierOrder find_tape_order(const Pattern &pattern, std::uint64_t seed, const std::function<void()> &poll,
                              MemoryAccount *account = nullptr);

// The steps that a tape is written from. `samples`: of what is reachable (preprocess/frontier_program.hpp).
FrontierProgram tape_program(const Pattern &pattern, const FrontierOrder &order, int samples = 0);

constexpr std::int32_t most_tape_slots = 64; // columns open at once: no tape of more

// With at most so many moves; no tape of more. States that no perfect matching goes through are left out, so
// that a pattern without one has no moves at all. `poll` may throw.
std::optional<Tape> make_tape(const FrontierProgram &program, const Pattern &pattern, std::int64_t most_moves,
                              const std::function<void()> &poll);

} // namespace libperm
