// Row sums on two grids whose segments that matter most are summed again, in compensated products on both:
// permanents within bounds that a small tolerance asks for, against exact ones; kernels give the CPU's bits.
#include "jit/kernel/subset_source.hpp"
#include "lib/run/call.hpp"
#include "lib/subsets/kernel_values.hpp"
#include "lib/subsets/segments.hpp"
#include "lib/subsets/subset_sum.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/run.hpp"
#include "tests/support/segment_watch.hpp"
#include "tests/support/subset_cases.hpp"
#include "tests/support/trees.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace libperm;
using perm::families::Entries;
using subset_cases::Exact;
using trees::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x67726473); }

struct Case {
    SubsetPlan plan; // on two grids
    ExactBlock block;
    Exact truth;
};

// Full mantissas over some powers of two, so that one grid of doubles is not enough.
Case any_case(std::int64_t n, Random &random) {
    perm::Csr a = subset_cases::matrix_with(n, Entries::nonnegative, random);
    for (double &x : a.values) x = std::ldexp(x, static_cast<int>(random.integer(-6, 0)));
    const Block block = trees::block_of(a);
    SubsetPlan plan = random.chance(0.5) ? trees::planned(block.pattern, random.bits())
                                         : trees::any_plan(block.pattern, 4, random);
    plan.tolerance = std::pow(10, -random.uniform(12, 15));
    plan.most_refined = 1;
    plan = with_arithmetic(plan, Arithmetic::two_grids);
    const Block lines = plan.transposed ? transposed(block) : block;
    return {std::move(plan), exact_block(lines), oracle::by_frontier(a)};
}

// All of its digits, of which a double has the first.
void check(const EngineResult &result, const Exact &truth) {
    const auto &ball = std::get<WideBall>(result.value);
    CHECK(abs(ball.value.re - truth) <= exactly(ball.error));
}

} // namespace

TEST_CASE("permanents are within their bounds, which small tolerances bring down") {
    Random random(test_seed());
    int some = 0, all = 0, met = 0, cases = 0;
    for (int k = 0; k < run::cases(150); ++k) {
        CAPTURE(k);
        const Case it = any_case(random.integer(5, 12), random);
        const EngineInput input(it.block, Arithmetic::two_grids);
        const EngineResult result = run_subset_sum(it.plan, input, {{}, true});
        check(result, it.truth);
        const Outcome outcome = outcome_of(result);
        const FixedPointWide values(it.plan, it.block);
        const RefinedSegments refined = choose_refined(it.plan, values.leading(it.plan.kernel));
        all += refined.all;
        some += !refined.all && refined.most < std::numeric_limits<double>::infinity();
        met += outcome.rel_error_bound <= it.plan.tolerance;
        ++cases;
    }
    CHECK(some > run::enough(20));
    CHECK(all > run::enough(5));
    CHECK(met > cases * 9 / 10);
}

TEST_CASE("on the host, kernels give the CPU's bits, with segments that are summed again") {
    Random random(test_seed() + 1);
    std::vector<Case> cases;
    std::vector<KernelRecipe> recipes;
    for (int k = 0; k < run::cases(8); ++k) {
        cases.push_back(any_case(random.integer(8, 11), random));
        recipes.push_back(subsets_kernel(cases.back().plan.kernel));
    }
    HostQueue queue;
    if (!subset_cases::compiled(queue, recipes)) return;
    int compared = 0;
    for (const Case &it : cases) {
        const EngineInput input(it.block, Arithmetic::two_grids);
        const subset_cases::Played played = subset_cases::any_device(it.plan, random);
        queue.device = played.device;
        CurrentCall host_control;
        const EngineResult result =
            run_subset_sum(it.plan, input, {DeviceQueues(queue), false, played.seconds});
        CHECK(queue.is_whole());
        const EngineResult on_cpu = run_subset_sum(it.plan, input, {{}, true});
        CHECK(subset_cases::same_bits(outcome_of(result), outcome_of(on_cpu)));
        CHECK(std::get<WideBall>(result.value).value.re == std::get<WideBall>(on_cpu.value).value.re);
        check(result, it.truth);
        ++compared;
    }
    CHECK(compared == static_cast<int>(cases.size()));
}
