// The names of a frontier's slots: low are those which entries lie in least.
#include "bench/families.hpp"
#include "lib/number/combinations.hpp"
#include "preprocess/frontier_steps.hpp"
#include "tests/support/pattern.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

using namespace libperm;
namespace families = perm::families;

namespace {

FrontierProgram program_of(const perm::Csr &matrix, std::uint64_t seed) {
    const auto sides = frontier_sides(pattern_of(matrix), {});
    FrontierOrderOptions options;
    options.seed = seed;
    const FrontierOrder order = find_frontier_order(sides, options);
    return build_frontier_program(sides[order.transposed ? 1 : 0], order);
}

// Of each slot, by its definition: states of rows with an entry in it, half of those of rows where it is not
// open.
std::vector<double> costs_of(const FrontierProgram &program) {
    std::vector<double> costs(static_cast<std::size_t>(program.slots), 0);
    std::set<std::int32_t> open;
    for (const FrontierStep &step : program.steps) {
        const double states = subsets_of_size(step.width_after, step.used_after);
        std::set<std::int32_t> touched;
        for (const FrontierTerm &t : step.terms) touched.insert(t.slot);
        for (std::int32_t s = 0; s < program.slots; ++s)
            costs[static_cast<std::size_t>(s)] += touched.contains(s) ? states
                                                  : open.contains(s)  ? 0
                                                                      : states / 2;
        for (const FrontierTerm &t : step.terms)
            if (t.closes)
                open.erase(t.slot);
            else
                open.insert(t.slot);
    }
    return costs;
}

// A column that opens takes a slot that no other has, and keeps it until it closes.
bool is_consistent(const FrontierProgram &program) {
    std::set<std::int32_t> open;
    for (const FrontierStep &step : program.steps) {
        std::int32_t last = -1;
        for (const FrontierTerm &t : step.terms) {
            if (t.slot <= last || t.slot >= program.slots) return false;
            last = t.slot;
            if (t.opens == open.contains(t.slot)) return false;
            if (t.opens) open.insert(t.slot);
        }
        for (const FrontierTerm &t : step.terms)
            if (t.closes) open.erase(t.slot);
    }
    return open.empty();
}

} // namespace

TEST_CASE("low slots are those with the least entries where there are many states") {
    int named = 0;
    const std::uint64_t first = run::seed(0x736c6f74);
    for (std::uint64_t seed = first; seed < first + 20; ++seed) {
        CAPTURE(seed);
        families::Random random(seed);
        const std::int64_t n = random.integer(20, 40);
        const FrontierProgram program =
            program_of(families::permutation_plus(n, 4, families::Entries::real, seed), seed);
        CHECK(is_consistent(program));
        if (program.slots <= low_slots || program.slots > 64) continue;
        ++named;
        const std::vector<double> costs = costs_of(program);
        const auto low_end = costs.begin() + low_slots;
        CHECK(*std::max_element(costs.begin(), low_end) <= *std::min_element(low_end, costs.end()));
    }
    CHECK(named >= 10);
}
