// Tapes: which states and moves a pattern has, of a small one and of one as long as memory allows.
#pragma once

#include "jit/program/tape.hpp"
#include "lib/input/options.hpp"
#include "lib/run/call.hpp"
#include "preprocess/frontier_steps.hpp"
#include "preprocess/pattern.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace libperm {

// What a tape is of. Its last lines, if they are free ones (lib/input/input_pattern.hpp), are one that any
// number of lines takes: how many of them are used follows from what else is, and that they come in any order
// is counted once. So the tape's value is not to be divided by the factorial of their number.
struct TapePattern {
    const Pattern &lines;
    std::int32_t free_rows = 0, free_columns = 0; // not both; a single one is as any other

    bool has_free() const { return free_rows > 1 || free_columns > 1; }
    bool is_copy(std::int32_t row, std::int32_t col) const { // of an entry of the first free line
        return row > lines.rows - std::max(free_rows, 1) || col > lines.cols - std::max(free_columns, 1);
    }
};

// An order of the rows or columns; none is feasible if the search finds nothing within reach. One of more
// than `most_moves` is not bettered for long.
// `account` (may be none) holds what is looked at meanwhile; it may throw, and so may polling.
FrontierOrder find_tape_order(const TapePattern &pattern, std::uint64_t seed,
                              MemoryAccount *account = nullptr, double most_moves = 1e300);

// The steps that a tape is written from. `samples`: of what is reachable (preprocess/frontier_steps.hpp).
FrontierProgram tape_program(const TapePattern &pattern, const FrontierOrder &order, int samples = 0);

constexpr std::int32_t most_tape_slots = 128; // lines that wait at once: no tape of more

// With at most so many moves; no tape of more. States that no perfect matching goes through are left out, so
// that a pattern without one has no moves at all. Polling may throw.
std::optional<Tape> make_tape(const FrontierProgram &program, const Pattern &pattern,
                              std::int64_t most_moves);

// A tape as long as memory allows, for what goes back along the frontier: derivatives, samples.

struct TapeWish {
    double most_moves = 0x1p32;
    // Who has another way for what is a little longer: where a path has too many moves, but not so many, no
    // tree is looked for.
    double far_moves = 0;
};

// Along a path, or on a tree where this has less than half as many moves. `who` keeps the states, in the
// texts of refusals: "a gradient". Throws Error (PERM_REFUSED_MEMORY, PERM_UNSUPPORTED).
Tape long_tape(const TapePattern &pattern, const Options &options, const char *who,
               const TapeWish &wish = {});

std::int64_t bytes_of(const Tape &tape);

} // namespace libperm
