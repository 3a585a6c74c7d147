// The same bits whatever the number of threads, on problems large enough that the parallel code really runs.
#include "bench/families.hpp"
#include "lib/base/threads.hpp"
#include "lib/frontier/forms.hpp"
#include "lib/input/matrix.hpp"
#include "lib/run/results.hpp"
#include "tests/support/check.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

using namespace perm::families;

namespace {

// How many threads are compared with one.
std::vector<int> some_counts() {
    return run::sanitized ? std::vector<int>{2, 8} : std::vector<int>{2, 3, 5, 8};
}

void check_all_thread_counts(const perm::Csr &a, const char *engine) {
    perm_opts opts = with_engine(engine);
    if (std::string(engine) == "tree") opts.device = "cpu";
    opts.threads = 1;
    perm::Result one = perm::compute(a, opts);
    for (const int threads : some_counts()) {
        CAPTURE(threads);
        opts.threads = threads;
        perm::Result many = perm::compute(a, opts);
        check_same_bits(*one.raw(), *many.raw());
    }
    opts.threads = 0;
    check_same_bits(*one.raw(), *perm::compute(a, opts).raw());
}

std::string form_of(const perm::Csr &a) {
    const perm::Plan plan(a, with_engine("frontier"));
    return nlohmann::json::parse(plan.explain(PERM_FORMAT_JSON)).at("form").get<std::string>();
}

double peak_states(const perm::Csr &a) { return perm::compute(a, with_engine("frontier"))->peak_states; }

// The first of a sequence of matrices on which the frontier takes this form and has more than 100000 states.
perm::Csr large_one(const std::string &form, const std::function<perm::Csr(std::uint64_t)> &matrix) {
    for (std::uint64_t i = 0; i < 100; ++i) {
        perm::Csr a = matrix(i);
        if (form_of(a) == form && peak_states(a) > 100000) return a;
    }
    FAIL("no matrix takes the form " << form);
    return {};
}

// In the sparse form, whatever a plan would take: the first of a sequence of matrices that has between 100000
// and some million states at once.
void check_sparse_form(const std::function<perm::Csr(std::uint64_t)> &matrix) {
    using namespace libperm;
    for (std::uint64_t i = 0; i < 100; ++i) {
        const perm::Csr a = matrix(i);
        const perm_csr view = a.view();
        const InputPattern input = read_pattern(&view);
        Block block;
        block.pattern = input.pattern;
        for (const double x : read_values(input, view.values).real) block.values.push_back(tracked(x));
        const auto sides = frontier_sides(input.pattern, {});
        const FrontierOrder order = find_frontier_order(sides, {});
        const FrontierProgram program = build_frontier_program(sides[order.transposed ? 1 : 0], order);
        double most = 0;
        for (const FrontierStep &step : program.steps) most = std::max(most, step.states_bound);
        if (most < 200000 || most > 1e8) continue;
        const auto run_with = [&](int threads) {
            MemoryBudget memory(std::int64_t{1} << 32);
            EngineResult result;
            with_threads(threads, [&] {
                result = run_frontier(FrontierForm::sparse, {block, program, memory, threads});
            });
            return result;
        };
        const EngineResult one = run_with(1);
        if (one.counts.peak_states <= 100000) continue;
        const Outcome of_one = outcome_of(one);
        for (const int threads : some_counts()) {
            CAPTURE(threads);
            const Outcome many = outcome_of(run_with(threads));
            CHECK(of_one.value.mantissa == many.value.mantissa);
            CHECK(of_one.value.exp2 == many.value.exp2);
            CHECK(of_one.error.mantissa == many.error.mantissa);
        }
        return;
    }
    FAIL("no matrix has so many states");
}

} // namespace

TEST_CASE("frontier, dense form: 1 to 8 threads give the same bits") {
    for (const Entries entries : {Entries::real, Entries::nonnegative, Entries::integers})
        check_all_thread_counts(
            large_one("dense",
                      [&](std::uint64_t i) { return erdos_renyi(21, 0.6, entries, run::seed(33) + i); }),
            "frontier");
    check_all_thread_counts(large_one("dense", [](std::uint64_t) { return hypercube(6); }), "frontier");
}

TEST_CASE("frontier, branches: 1 to 8 threads give the same bits") {
    for (const Entries entries : {Entries::real, Entries::integers})
        check_all_thread_counts(
            large_one("branches",
                      [&](std::uint64_t i) { return permutation_plus(90, 2, entries, run::seed(34) + i); }),
            "frontier");
}

TEST_CASE("frontier, sparse form: 1 to 8 threads give the same bits") {
    for (const Entries entries : {Entries::real, Entries::nonnegative, Entries::integers})
        check_sparse_form(
            [&](std::uint64_t i) { return permutation_plus(100, 2, entries, run::seed(34) + i); });
}

TEST_CASE("frontier, sparse form, keys of several words: 1 to 8 threads give the same bits") {
    // A full row keeps every column open until it is taken.
    check_sparse_form([](std::uint64_t i) {
        return with_row(permutation_plus(72, 2, Entries::real, run::seed(35) + i), 0,
                        std::vector<double>(72, 0.75));
    });
}

TEST_CASE("frontier, few states: 1 to 8 threads give the same bits") {
    Random random(run::seed(36));
    for (int i = 0; i < run::cases(20); ++i)
        check_all_thread_counts(random_matrix(random.integer(1, 14), random), "frontier");
}

TEST_CASE("many blocks, short and long ones: 1 to 8 threads give the same bits") {
    const std::uint64_t seed = run::seed(37);
    for (const Entries entries : {Entries::real, Entries::integers}) {
        // The short ones are computed at the same time, within the long one the threads share the states.
        const perm::Csr a =
            block_sum(chain_of_blocks(90, 7, 0.5, entries, seed), erdos_renyi(20, 0.8, entries, seed));
        CHECK(perm::compute(a)->blocks > 80);
        CHECK(peak_states(erdos_renyi(20, 0.8, entries, seed)) > 10000);
        check_all_thread_counts(a, "auto");
    }
}

TEST_CASE("a sum of blocks: 1 to 8 threads give the same bits") {
    perm_opts opts = PERM_OPTS_INIT;
    opts.decompose = "paper";
    opts.threads = 1;
    Random random(run::seed(38));
    perm::Csr a = circulant(37, {0, 1, 3, 9});
    for (double &value : a.values) value = random_entry(Entries::real, random);
    perm::Result one = perm::compute(a, opts);
    CHECK(one->blocks > 64); // more than wait at once
    for (const int threads : {2, 3, 8}) {
        CAPTURE(threads);
        opts.threads = threads;
        check_same_bits(*one.raw(), *perm::compute(a, opts).raw());
    }
}

TEST_CASE("ryser: 1 to 8 threads give the same bits") {
    const std::uint64_t seed = run::seed(31);
    check_all_thread_counts(erdos_renyi(18, 1, Entries::real, seed), "ryser");
    check_all_thread_counts(erdos_renyi(19, 0.3, Entries::nonnegative, seed), "ryser");
    check_all_thread_counts(permutation_plus(20, 2, Entries::real, seed), "ryser");
    check_all_thread_counts(constant(20, 1), "ryser");
    for (std::int64_t n = 1; n <= 8; ++n)
        check_all_thread_counts(erdos_renyi(n, 1, Entries::real, seed), "ryser");
}

TEST_CASE("tree: 1 to 8 threads give the same bits") {
    const std::uint64_t seed = run::seed(39);
    check_all_thread_counts(erdos_renyi(22, 1, Entries::real, seed), "tree");
    check_all_thread_counts(erdos_renyi(30, 0.3, Entries::nonnegative, seed), "tree");
    check_all_thread_counts(permutation_plus(30, 2, Entries::real, seed), "tree");
    check_all_thread_counts(mesh2d(5, 6, Entries::integers, seed), "tree"); // it falls apart
    check_all_thread_counts(arrow(24, Entries::real, seed), "tree");
    Random random(seed);
    for (std::int64_t n = 1; n <= 12; ++n) check_all_thread_counts(random_matrix(n, random), "tree");
}

TEST_CASE("the same call twice gives the same bits") {
    const perm::Csr a = erdos_renyi(24, 0.25, Entries::real, run::seed(32));
    perm::Result first = perm::compute(a), second = perm::compute(a);
    check_same_bits(*first.raw(), *second.raw());
}
