// Which states and moves a pattern has (jit/tape.hpp).
#pragma once

#include "jit/tape.hpp"
#include "preprocess/pattern.hpp"

#include <functional>
#include <optional>

namespace libperm {

// With at most so many moves; no tape of more. States that no perfect matching goes through are left out, so
// that a pattern without one has no moves at all. `poll` may throw.
std::optional<Tape> make_tape(const Pattern &pattern, std::int64_t most_moves, std::uint64_t seed,
                              const std::function<void()> &poll);

} // namespace libperm
