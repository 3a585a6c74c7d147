#include "lib/tape/tape_steps.hpp"

#include "lib/frontier/cost.hpp"
#include "preprocess/frontier_program.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace libperm {
namespace {

std::vector<std::int32_t> with_last_equal(std::int32_t lines, std::int32_t free) {
    if (free <= 1) return {};
    std::vector<std::int32_t> lowest(static_cast<std::size_t>(lines));
    std::iota(lowest.begin(), lowest.end(), 0);
    std::fill(lowest.end() - free, lowest.end(), lines - free);
    return lowest;
}

std::array<FrontierSide, 2> sides_of(const TapePattern &pattern) {
    return frontier_sides(pattern.lines, {with_last_equal(pattern.lines.rows, pattern.free_rows),
                                          with_last_equal(pattern.lines.cols, pattern.free_columns)});
}

} // namespace

FrontierOrder find_tape_order(const TapePattern &pattern, std::uint64_t seed, MemoryAccount *account,
                              double most_moves) {
    const Charge charge(account, frontier_planning_bytes(pattern.lines));
    FrontierOrderOptions search;
    search.account = account;
    search.seed = seed;
    if (pattern.has_free()) search.transposed = pattern.free_rows > 0; // free lines are columns to walk past
    search.sparse = search.dense = sparse_price();
    search.budget.least = 0.005;    // a tape runs for less
    constexpr double hopeless = 10; // times the limit is what the search gives up
    search.limit_seconds =
        std::min(1e300, most_moves / hopeless * (search.sparse.expansion + search.sparse.state));
    return find_frontier_order(sides_of(pattern), search);
}

FrontierProgram tape_program(const TapePattern &pattern, const FrontierOrder &order, int samples) {
    const std::array<FrontierSide, 2> sides = sides_of(pattern);
    const FrontierSide &side = sides[order.transposed ? 1 : 0];
    FrontierProgram program = build_frontier_program(side, order);
    if (samples > 0) estimate_reachable(program, side, order, samples);
    return program;
}

} // namespace libperm
