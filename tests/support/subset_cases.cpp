#include "tests/support/subset_cases.hpp"

#include "jit/driver/jit_error.hpp"
#include "jit/kernel/subset_source.hpp"
#include "preprocess/matching.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/trees.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace libperm;
namespace families = perm::families;

namespace subset_cases {

bool same_bits(const Outcome &x, const Outcome &y) {
    return x.value.mantissa == y.value.mantissa && x.value.exp2 == y.value.exp2 &&
           x.error.mantissa == y.error.mantissa && x.error.exp2 == y.error.exp2 && x.exact == y.exact;
}

void check(const Outcome &outcome, const Exact &truth) {
    CHECK(std::isfinite(outcome.value.mantissa));
    const Exact error = abs(exactly(outcome.value) - truth);
    if (std::isfinite(outcome.error.mantissa)) CHECK(error <= exactly(outcome.error));
    if (std::isfinite(outcome.rel_error_bound)) CHECK(error <= Exact(outcome.rel_error_bound) * abs(truth));
    if (outcome.exact) CHECK(error == 0);
}

std::int32_t columns_within(const SubsetKernel &kernel, std::int32_t k) {
    std::int32_t c = 0;
    while (c < kernel.n - 1 && std::all_of(kernel.row.begin() + kernel.column_ptr[at(c)],
                                           kernel.row.begin() + kernel.column_ptr[at(c) + 1],
                                           [k](std::int32_t r) { return r < k; }))
        ++c;
    return c;
}

Ordering any_order(std::int32_t n, Random &random) {
    Ordering order;
    for (const std::int64_t i : random.permutation(n)) order.rows.push_back(static_cast<std::int32_t>(i));
    for (const std::int64_t j : random.permutation(n)) order.cols.push_back(static_cast<std::int32_t>(j));
    return order;
}

SubsetPlan plan_in_order(SubsetEngine engine, const Pattern &a, const Ordering &order) {
    SubsetPlan plan;
    plan.order = order;
    plan.subsets = std::exp2(a.rows - 1.0);
    plan.kernel.engine = engine;
    plan.kernel.n = a.rows;
    plan.kernel.k = engine == SubsetEngine::hybrid ? a.rows : 0;
    if (engine == SubsetEngine::dense) return plan;
    const Pattern columns = transpose(reorder(a, order).pattern).pattern;
    plan.kernel.column_ptr = columns.row_ptr;
    plan.kernel.row = columns.col;
    return plan;
}

void choose_shape(SubsetKernel &kernel, Random &random) {
    kernel.threads =
        static_cast<std::int32_t>(random.integer(kernel.engine == SubsetEngine::hybrid ? 4 : 1, 8));
    kernel.segment_bits = static_cast<std::int32_t>(random.integer(0, kernel.n - 1));
    std::int64_t most = kernel.segment_bits;
    if (kernel.engine == SubsetEngine::hybrid) {
        const std::int64_t kind = random.integer(0, 4);
        if (kind > 0) // else as the planner has it
            kernel.k = static_cast<std::int32_t>(kind == 1   ? 0
                                                 : kind == 2 ? kernel.n
                                                             : random.integer(0, kernel.n));
        const std::int32_t within = columns_within(kernel, kernel.k);
        if (kind == 0) CHECK(kernel.c <= within);
        if (kind > 0) kernel.c = static_cast<std::int32_t>(random.integer(0, within));
        most = std::min<std::int64_t>(most, kernel.c);
    }
    if (values_by_parameter(kernel)) most = std::min<std::int64_t>(most, kernel.n <= 8 ? 7 : 5);
    kernel.unrolled = static_cast<std::int32_t>(random.chance(0.3) ? most : random.integer(0, most));
}

double block_terms(const SubsetKernel &kernel) {
    return kernel.equal_chunks ? 16 : std::ldexp(1.0, kernel.unrolled);
}

perm::Csr matrix_with(std::int64_t n, families::Entries entries, Random &random) {
    for (;;) {
        const std::uint64_t seed = random.bits();
        perm::Csr a;
        switch (random.integer(0, 5)) {
        case 0:
            a = families::erdos_renyi(n, random.uniform(0.2, 0.9), entries, seed);
            break;
        case 1:
            a = families::erdos_renyi(n, 1, entries, seed);
            break;
        case 2:
            a = families::banded(n, random.integer(0, 3), random.integer(0, 3), entries, seed);
            break;
        case 3: { // one full row
            std::vector<double> row(at(n));
            for (double &x : row) x = families::random_entry(entries, random);
            a = families::with_row(families::permutation_plus(n, random.integer(0, 2), entries, seed),
                                   random.integer(0, n - 1), row);
            break;
        }
        case 4:
            a = families::arrow(n, entries, seed);
            break;
        default:
            a = families::permutation_plus(n, random.integer(0, 4), entries, seed);
        }
        a = families::permute(a, random.permutation(n), random.permutation(n));
        if (maximum_matching(trees::block_of(a).pattern).size == n) return a;
    }
}

Case make_case(const perm::Csr &matrix, const Exact &truth, SubsetPlan plan) {
    const SubsetKernel &k = plan.kernel;
    Case it{std::string(subset_engine_name(k.engine)) + (k.equal_chunks ? " equal" : " ceg") +
                " n=" + std::to_string(k.n) + " k=" + std::to_string(k.k) + " c=" + std::to_string(k.c) +
                " segment_bits=" + std::to_string(k.segment_bits) +
                " unrolled=" + std::to_string(k.unrolled) + " threads=" + std::to_string(k.threads),
            truth, plan, trees::block_of(matrix)};
    if (plan.transposed) it.block = transposed(it.block);
    return it;
}

Case any_case(SubsetEngine engine, bool equal_chunks, std::int64_t n, Random &random) {
    const auto entries = static_cast<families::Entries>(random.integer(0, 4));
    perm::Csr a = matrix_with(n, entries, random);
    if (random.chance(0.15)) a.values[at(random.integer(0, a.row_ptr.back() - 1))] = 0; // stored all the same
    const Pattern p = trees::block_of(a).pattern, t = transpose(p).pattern;
    SubsetPlan plan = random.chance(0.6) ? plan_subsets(engine, p, t, equal_chunks)
                                         : plan_in_order(engine, p, any_order(p.rows, random));
    plan.kernel.equal_chunks = equal_chunks;
    choose_shape(plan.kernel, random);
    return make_case(a, oracle::by_frontier(a), plan);
}

Played any_device(const SubsetPlan &plan, Random &random) {
    const SubsetKernel &kernel = plan.kernel;
    Played it;
    const bool any_size = kernel.engine == SubsetEngine::shared;
    it.threads = static_cast<unsigned>(any_size ? random.integer(1, kernel.threads) : kernel.threads);
    it.blocks = static_cast<unsigned>(random.chance(0.1) ? random.integer(40, 80) : random.integer(1, 4));
    it.device.blocks = [threads = it.threads, blocks = it.blocks](unsigned of_block, std::size_t) {
        return of_block == threads ? blocks : 0;
    };
    it.device.block_threads = 1U << random.integer(0, 4);
    // A hundred launches at most: each starts threads.
    const int bits = kernel.n - 1 - (kernel.equal_chunks ? 0 : kernel.segment_bits);
    const auto longest =
        static_cast<double>(at(random.chance(0.5) ? 1 << 20 : random.integer(1, 9)) << std::max(0, bits - 5));
    constexpr double launch_seconds = 0.2; // at most
    it.seconds = launch_seconds / (longest + 0.5) * plan.subsets /
                 std::ldexp(it.threads * it.blocks, kernel.segment_bits);
    return it;
}

bool compiled(HostQueue &queue, const std::vector<KernelRecipe> &kernels) {
    try {
        queue.load(kernels);
        return true;
    } catch (const JitError &error) {
        if (error.failure() != JitFailure::unavailable) throw;
        return false;
    }
}

bool compiled(HostQueue &queue, const std::vector<Case> &cases) {
    std::vector<KernelRecipe> kernels;
    for (const Case &c : cases) {
        kernels.push_back(subsets_kernel(c.plan.kernel));
        if (c.plan.kernel.engine == SubsetEngine::tree && refines(c.plan.kernel) && c.plan.tolerance > 0)
            kernels.push_back(subsets_kernel(refined_plan(c.plan).kernel));
    }
    return compiled(queue, kernels);
}

Outcome run_on(HostQueue &queue, const Case &c, const Played &played) {
    queue.device = played.device;
    Outcome outcome = run_on(queue, c.plan, c.block, played.seconds);
    CHECK(queue.is_whole());
    return outcome;
}

} // namespace subset_cases
