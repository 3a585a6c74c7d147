// The engines that walk the Gray code without a GPU: a device is played on the host
// (tests/support/host_queue.hpp), and what they do on one is checked against exact permanents.
#include "jit/kernel/subset_source.hpp"
#include "jit/number/partial.hpp"
#include "lib/subsets/kernel_values.hpp"
#include "lib/subsets/segments.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/run.hpp"
#include "tests/support/segment_watch.hpp"
#include "tests/support/subset_cases.hpp"
#include "tests/support/trees.hpp"
#include "tests/support/walked.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace libperm;
using namespace subset_cases;
using trees::block_of;
namespace families = perm::families;

namespace {

std::uint64_t test_seed() { return run::seed(0x6b726e); }

// Products of whole numbers and their sums that a double holds: such a permanent must be exact.
bool must_be_exact(const Block &block, const Exact &truth, double terms) {
    double bits = std::log2(terms);
    std::size_t k = 0;
    for (std::int32_t i = 0; i < block.n(); ++i) {
        double sum = 0;
        for (std::size_t of_row = 0; of_row < block.pattern.row(i).size(); ++of_row, ++k) {
            const Exact x = exactly(block.values[k]);
            if (x.get_den() != 1) return false;
            sum += std::fabs(x.get_d());
        }
        bits += std::floor(std::log2(std::max(sum, 1.0))) + 1;
    }
    return bits <= 53 && abs(truth) < Exact(0x1p53);
}

struct Tally {
    int compared = 0, exact = 0, close = 0;
};

void check_cases(const std::vector<Case> &cases, int shapes, Random &random, Tally &counts) {
    HostQueue queue;
    if (!compiled(queue, cases)) return;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case &c = cases[i];
        CAPTURE(i);
        CAPTURE(c.name);
        for (int s = 0; s < shapes; ++s) {
            const Played played = any_device(c.plan, random);
            CAPTURE(played.threads);
            CAPTURE(played.blocks);
            const SegmentWatch watch(queue);
            const Outcome outcome = run_on(queue, c, played);
            check(outcome, c.truth);
            if (must_be_exact(c.block, c.truth, block_terms(c.plan.kernel))) {
                CHECK(outcome.exact);
                ++counts.exact;
            }
            ++counts.compared;
            counts.close += outcome.rel_error_bound < 1e-9;
        }
    }
}

// As many bits as the shape of a kernel has, of what was summed.
bool same_bits(const std::vector<Partial3> &x, const std::vector<Partial3> &y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(Partial3)) == 0;
}

} // namespace

TEST_CASE("every engine, both ways to cut into chunks: random matrices of order 1 to 16 against the oracle") {
    Random random(test_seed());
    Tally counts;
    for (int repeat = 0; repeat < run::multiplier(); ++repeat) {
        std::vector<Case> cases;
        for (const SubsetEngine engine : engines)
            for (const bool equal_chunks : {false, true})
                for (std::int64_t n = 1; n <= 16; ++n)
                    cases.push_back(any_case(engine, equal_chunks, n, random));
        check_cases(cases, 3, random, counts);
        for (const Case &c : cases) // whether or not there is a compiler
            CHECK(shared_bytes(c.plan.kernel, 8) >= shared_bytes(c.plan.kernel, 1));
    }
    if (counts.compared == 0) return;
    CHECK(counts.compared >= 384);
    CHECK(counts.exact > 50);
    CHECK(counts.close > 200);
}

TEST_CASE("every length of a segment and of a block, of a small matrix") {
    Random random(test_seed() + 1);
    Tally counts;
    std::vector<Case> cases;
    for (const SubsetEngine engine : engines)
        for (const std::int64_t n : {1, 2, 4}) {
            const perm::Csr a = matrix_with(n, families::Entries::integers, random);
            const Pattern p = block_of(a).pattern;
            const Exact truth = oracle::by_frontier(a);
            for (std::int32_t segment_bits = 0; segment_bits < n; ++segment_bits)
                for (std::int32_t unrolled = 0; unrolled <= segment_bits; ++unrolled) {
                    SubsetPlan plan = plan_in_order(engine, p, any_order(p.rows, random));
                    plan.kernel.segment_bits = segment_bits;
                    plan.kernel.unrolled = unrolled;
                    plan.kernel.threads = 4;
                    if (engine == SubsetEngine::hybrid) plan.kernel.c = p.rows - 1; // and k = n
                    cases.push_back(make_case(a, truth, plan));
                }
        }
    check_cases(cases, 2, random, counts);
    if (counts.compared > 0) CHECK(counts.exact == counts.compared);
}

TEST_CASE("hybrid with any number of rows in registers, none and all of them too") {
    Random random(test_seed() + 2);
    Tally counts;
    std::vector<Case> cases;
    for (const std::int64_t n : {1, 2, 6, 11}) {
        const perm::Csr a =
            matrix_with(n, n == 11 ? families::Entries::nonnegative : families::Entries::counts, random);
        const Pattern p = block_of(a).pattern, t = transpose(p).pattern;
        const Exact truth = oracle::by_frontier(a);
        const SubsetPlan planned = plan_subsets(SubsetEngine::hybrid, p, t, false);
        for (std::int32_t k = 0; k <= n; ++k) {
            SubsetPlan plan = planned;
            plan.kernel.k = k;
            plan.kernel.c = columns_within(plan.kernel, k);
            plan.kernel.threads = 4 + k % 3;
            plan.kernel.segment_bits = static_cast<std::int32_t>(random.integer(n / 2, n - 1));
            plan.kernel.unrolled = std::min({plan.kernel.segment_bits, plan.kernel.c, 5});
            cases.push_back(make_case(a, truth, plan));
        }
    }
    check_cases(cases, 2, random, counts);
    if (counts.compared > 0) CHECK(counts.close == counts.compared);
}

TEST_CASE("what a segment adds up to has the same bits whoever sums it, and so has the permanent") {
    Random random(test_seed() + 3);
    std::vector<Case> cases;
    for (const SubsetEngine engine : engines)
        for (const std::int64_t n : {5, 9, 13}) {
            const perm::Csr a = matrix_with(n, families::Entries::real, random);
            const Pattern p = block_of(a).pattern;
            SubsetPlan plan = plan_subsets(engine, p, transpose(p).pattern, false);
            choose_shape(plan.kernel, random);
            plan.kernel.segment_bits = static_cast<std::int32_t>(n / 3);
            plan.kernel.unrolled = std::min(plan.kernel.unrolled, plan.kernel.segment_bits);
            plan.tolerance = 0;
            for (const std::int32_t threads : {5, 8}) { // for hybrid the kernels differ
                plan.kernel.threads = threads;
                cases.push_back(make_case(a, oracle::by_frontier(a), plan));
            }
        }
    HostQueue queue;
    if (!compiled(queue, cases)) return;
    for (std::size_t pair = 0; pair < cases.size(); pair += 2) {
        std::vector<Partial3> first;
        Outcome first_outcome;
        for (std::size_t i = pair; i < pair + 2; ++i) {
            const Case &c = cases[i];
            CAPTURE(c.name);
            for (int trial = 0; trial < 12; ++trial) {
                SegmentWatch run(queue);
                const Outcome outcome = run_on(queue, c, any_device(c.plan, random));
                if (first.empty()) {
                    first = run.segments();
                    first_outcome = outcome;
                    REQUIRE(first.size() == std::size_t{1}
                                                << (c.plan.kernel.n - 1 - c.plan.kernel.segment_bits));
                    check(outcome, c.truth);
                }
                CHECK(same_bits(run.segments(), first));
                CHECK(same_bits(outcome, first_outcome));
            }
        }
    }
}

TEST_CASE("equal chunks, from any subset on") {
    Random random(test_seed() + 10);
    std::vector<Case> cases;
    for (const SubsetEngine engine : engines)
        for (const std::int64_t n : {3, 7, 10}) {
            const perm::Csr a = matrix_with(n, families::Entries::integers, random);
            SubsetPlan plan =
                plan_in_order(engine, block_of(a).pattern, any_order(static_cast<std::int32_t>(n), random));
            plan.kernel.equal_chunks = true;
            plan.kernel.threads = static_cast<std::int32_t>(random.integer(2, 5));
            cases.push_back(make_case(a, oracle::by_frontier(a), plan));
        }
    HostQueue queue;
    if (!compiled(queue, cases)) return;
    for (const Case &c : cases) {
        CAPTURE(c.name);
        queue.load(subsets_kernel(c.plan.kernel));
        const FixedPointDouble values(c.plan, c.block);
        const std::uint64_t subsets = std::uint64_t{1} << (c.plan.kernel.n - 1);
        for (const std::uint64_t windows : {2, 4}) {
            SubsetSum sum;
            for (std::uint64_t first = 0; first < subsets; first += subsets / windows) {
                const SubsetLaunch launch{first, first + subsets / windows, at(random.integer(1, 40)), 0};
                const number::Real<double> f;
                const auto partials = walked<number::Real<double>>(queue, c.plan, values.numbers(), launch);
                add_window(f, sum,
                           as_subset_sum<number::Real<double>>(
                               add_in_order(f, std::span<const Partial3>(partials))));
            }
            const Outcome outcome = outcome_of(values.close(sum, c.block, way_of(c.plan.kernel)));
            check(outcome, c.truth);
            CHECK(outcome.exact);
        }
    }
}

TEST_CASE("partial sums are gathered in groups of any size, the last one shorter") {
    Random random(test_seed() + 11);
    const Case c = any_case(SubsetEngine::purereg, false, 6, random);
    HostQueue queue;
    if (!compiled(queue, {c})) return;
    number::Real<double> f;
    for (int trial = 0; trial < run::cases(40); ++trial) {
        std::vector<Partial3> partials(at(random.integer(1, 700)));
        for (Partial3 &p : partials)
            p = {{random.uniform(-1, 1), random.uniform(-1, 1) * 0x1p-53}, random.uniform()};
        std::uint64_t count = partials.size(), group = at(random.integer(1, 300));
        std::vector<Partial3> gathered((count + group - 1) / group), right;
        for (std::uint64_t k = 0; k < count; k += group)
            right.push_back(
                add_in_order(f, std::span<const Partial3>(partials).subspan(k, std::min(group, count - k))));
        DeviceArray from_array(queue), to_array(queue);
        from_array.reserve(count * sizeof(Partial3));
        to_array.reserve(gathered.size() * sizeof(Partial3));
        queue.copy_in(from_array.address(), partials.data(), from_array.bytes());
        DeviceAddress from = from_array.address(), to = to_array.address();
        const auto threads = static_cast<unsigned>(random.integer(1, 9));
        queue.launch(gather_entry, (static_cast<unsigned>(gathered.size()) + threads - 1) / threads, threads,
                     std::array<void *, 5>{&from, &count, &group, &to, &f}, 0);
        queue.copy_out(gathered.data(), to, to_array.bytes());
        CHECK(same_bits(gathered, right));
        CHECK(queue.is_whole());
    }
}
