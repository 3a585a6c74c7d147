#include "lib/tape/long_tape.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/system.hpp"
#include "lib/base/threads.hpp"
#include "lib/frontier/cost.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace libperm {
namespace {

constexpr double move_bytes = 48; // while a tape is made, the states' share among it

[[noreturn]] void refuse_memory(const char *who, double moves, std::int64_t limit) {
    throw Error(PERM_REFUSED_MEMORY,
                formatted("{} keeps all states of the frontier and the ways between them, here about "
                          "{:.3g} ways and {}; {} is the limit\n  raise the limit: memory_limit_bytes",
                          who, moves, readable_bytes(moves * move_bytes),
                          readable_bytes(static_cast<double>(limit))));
}

} // namespace

std::int64_t bytes_of(const Tape &tape) {
    return static_cast<std::int64_t>(tape.moves.size() * sizeof(TapeMove) +
                                     tape.first_move.size() * sizeof(std::uint32_t));
}

Tape long_tape(const TapePattern &pattern, const Options &options, RunControl &control, const char *who,
               double wanted_moves) {
    constexpr int samples = 100;
    constexpr double three_deviations = 0.15; // of a share that so many samples tell
    const auto poll = [&control] { control.poll(); };
    const std::int64_t limit = options.memory_limit;
    const double most_moves = std::min({static_cast<double>(limit) / move_bytes, 0x1p32 - 2, wanted_moves});
    if (!pattern.has_free())
        if (const double least = least_frontier(pattern.lines).expansions; least > most_moves)
            refuse_memory(who, least, limit);
    std::optional<Tape> tape;
    with_threads(options.threads, [&] {
        const FrontierOrder order = find_tape_order(pattern, options.seed, poll, &control.memory());
        if (!order.feasible)
            throw Error(PERM_REFUSED_MEMORY, formatted("{} keeps all states of the frontier: more than "
                                                       "2^{} of them in any order of the rows",
                                                       who, frontier_out_of_reach));
        const FrontierProgram program = tape_program(pattern, order, samples);
        double moves = 0, expected = 0, certain = 0;
        for (const FrontierStep &step : program.steps) {
            moves += step.expansions_bound;
            expected += step.expansions_bound * step.reachable;
            certain += step.expansions_bound * std::max(0.0, step.reachable - three_deviations);
        }
        constexpr double misjudged = 4;
        if (expected > misjudged * most_moves || certain > most_moves) refuse_memory(who, expected, limit);
        if (program.slots > most_tape_slots)
            throw Error(PERM_UNSUPPORTED,
                        formatted("{}'s states are written in {} bits, and here {} columns are open "
                                  "at once",
                                  who, most_tape_slots, program.slots));
        tape = make_tape(program, pattern.lines, static_cast<std::int64_t>(most_moves), poll);
        if (!tape) refuse_memory(who, moves, limit);
    });
    return *std::move(tape);
}

} // namespace libperm
