// Orders for a form that takes so many open columns at most.
#include "bench/families.hpp"
#include "preprocess/frontier_order.hpp"
#include "preprocess/frontier_steps.hpp"
#include "tests/support/pattern.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace libperm;
namespace families = perm::families;

namespace {

// Open columns at most, in the order that is found for tables alone.
std::int32_t width_of(const Pattern &a, std::uint64_t seed, std::int32_t widest) {
    const auto sides = frontier_sides(a, {});
    FrontierOrderOptions options;
    options.seed = seed;
    options.sparse = {1, 1}; // seconds: out of the question
    options.dense.widest = widest;
    const FrontierOrder order = find_frontier_order(sides, options);
    const FrontierProgram program = build_frontier_program(sides[order.transposed ? 1 : 0], order);
    std::int32_t most = 0;
    for (const FrontierStep &step : program.steps) most = std::max(most, step.width_after);
    return most;
}

} // namespace

TEST_CASE("a narrower order is taken where the cheapest one is too wide") {
    int narrower = 0;
    const std::uint64_t first = run::seed(0x77696465);
    for (std::uint64_t seed = first; seed < first + 24; ++seed) {
        CAPTURE(seed);
        const Pattern a = pattern_of(families::permutation_plus(36, 3, families::Entries::real, seed));
        const std::int32_t free = width_of(a, seed, 1 << 30);
        CHECK(width_of(a, seed, 36) == free); // there are no more columns
        narrower += width_of(a, seed, free - 3) < free;
    }
    CHECK(narrower > 0);
}
