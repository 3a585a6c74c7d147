// Calls of perm_plan_execute_batch: any count and stride, what is refused, results of other versions,
// threads, cancelling and limits; and that a small plan allocates nothing.
#include "bench/families.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

using namespace perm::families;

namespace {

std::atomic<std::int64_t> allocations = 0;

} // namespace

void *operator new(std::size_t size) {
    ++allocations;
    if (void *p = std::malloc(size)) return p;
    throw std::bad_alloc();
}
void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
    ++allocations;
    return std::malloc(size);
}
// Inlined, GCC takes what is freed for what another operator new gave.
[[gnu::noinline]] void operator delete(void *p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void *p, std::size_t) noexcept { std::free(p); }

namespace {

// That something was there before.
void soil(Results &results) {
    for (perm_result &r : results.all) {
        r.re = 7;
        r.exact = 1;
        r.text = static_cast<char *>(std::calloc(1, 2));
    }
}

} // namespace

TEST_CASE("any count, any stride") {
    Random random(run::seed(312));
    const perm::Csr a = erdos_renyi(6, 0.7, Entries::real, run::seed(312));
    const auto nnz = static_cast<std::int64_t>(a.col_idx.size());
    for (const char *engine : {"auto", "ryser"}) {
        const PlanOf plan = plan_of(a, options_of({engine, "auto", 0}));
        for (const std::int64_t count : {0, 1, 7, 8, 9, 1000})
            for (const std::int64_t stride : {std::int64_t{0}, nnz, nnz + 5}) {
                std::vector<std::vector<double>> matrices;
                for (std::int64_t k = 0; k < (stride == 0 ? 1 : count); ++k)
                    matrices.push_back(row_values(a, static_cast<int>(k % 2) * 10, random));
                const std::vector<double> values = side_by_side(matrices, at(std::max(stride, nnz)));
                Results results(count);
                REQUIRE(perm_plan_execute_batch(plan.get(), values.data(), stride, count,
                                                results.all.data()) == PERM_OK);
                for (std::int64_t k = 0; k < count; k += count < 10 ? 1 : 37) {
                    perm::Result alone;
                    REQUIRE(perm_plan_execute(plan.get(), values.data() + k * stride, alone.raw()) ==
                            PERM_OK);
                    check_as_executed(*alone.raw(), results[k]);
                }
            }
        CHECK(perm_plan_execute_batch(plan.get(), nullptr, 0, 0, nullptr) == PERM_OK);
    }
}

TEST_CASE("what cannot be is refused, and all results are cleared") {
    const perm::Csr a = constant(3, 1);
    const PlanOf plan = plan_of(a);
    const double *values = a.values.data();
    const auto refused = [&](const perm_plan *p, const double *v, std::int64_t stride, std::int64_t count) {
        Results results(2);
        soil(results);
        CHECK(perm_plan_execute_batch(p, v, stride, count, results.all.data()) == PERM_BAD_ARGUMENT);
        if (count > 0) CHECK(is_clear(results[0]));
        if (count > 0) CHECK(is_clear(results[1]));
    };
    refused(nullptr, values, 0, 2);
    refused(plan.get(), nullptr, 9, 2);
    refused(plan.get(), values, 8, 2); // less than a matrix has
    refused(plan.get(), values, -9, 2);
    refused(plan.get(), values, 9, -1);
    CHECK(perm_plan_execute_batch(plan.get(), values, 9, 1, nullptr) == PERM_BAD_ARGUMENT);
    perm::Csr ones = a;
    ones.pattern = true;
    refused(plan_of(ones).get(), values, 0, 2);

    perm_opts opts = PERM_OPTS_INIT; // limits are a plan's, however it is executed
    opts.memory_limit_bytes = 1;
    opts.without = "all";
    opts.device = "cpu"; // whose memory it is
    const PlanOf small = plan_of(a, opts);
    perm::Result alone;
    CHECK(perm_plan_execute(small.get(), values, alone.raw()) == PERM_REFUSED_MEMORY);
    Results results(1);
    CHECK(perm_plan_execute_batch(small.get(), values, 0, 1, results.all.data()) == PERM_REFUSED_MEMORY);
}

TEST_CASE("a number that is none names its matrix") {
    Random random(run::seed(313));
    const perm::Csr a = erdos_renyi(5, 0.8, Entries::real, run::seed(313));
    for (const char *engine : {"auto", "ryser"})
        for (const double none : {std::nan(""), double{INFINITY}, -double{INFINITY}})
            for (const std::int64_t count : {1, 8, 21}) {
                const PlanOf plan = plan_of(a, options_of({engine, "auto", 0}));
                const std::size_t nnz = a.col_idx.size();
                std::vector<double> values(nnz * at(count), 0.5);
                const std::int64_t bad = random.integer(0, count - 1);
                values[nnz * at(bad) + at(random.integer(0, static_cast<std::int64_t>(nnz) - 1))] = none;
                Results results(count);
                soil(results);
                CHECK(perm_plan_execute_batch(plan.get(), values.data(), static_cast<std::int64_t>(nnz),
                                              count, results.all.data()) == PERM_BAD_MATRIX);
                CHECK(
                    std::string(perm_last_error()).find("matrix " + std::to_string(bad) + " of the batch") !=
                    std::string::npos);
                for (const perm_result &r : results.all) CHECK(is_clear(r));
            }
}

TEST_CASE("results of older and of newer versions lie as far apart as these are large") {
    const perm::Csr a = counting(3);
    const PlanOf plan = plan_of(a);
    for (const std::size_t size : {offsetof(perm_result, blocks), offsetof(perm_result, seconds_compile),
                                   sizeof(perm_result), sizeof(perm_result) + 16}) {
        CAPTURE(size);
        constexpr std::size_t count = 10;
        std::vector<double> memory(count * size / sizeof(double) + 1, -7);
        const auto result = [&](std::size_t k) {
            return reinterpret_cast<perm_result *>(reinterpret_cast<char *>(memory.data()) + k * size);
        };
        perm_result fresh = PERM_RESULT_INIT;
        fresh.struct_size = size;
        for (std::size_t k = 0; k < count; ++k) std::memcpy(result(k), &fresh, std::min(size, sizeof fresh));
        CHECK(perm_plan_execute_batch(plan.get(), a.values.data(), 0, count, result(0)) == PERM_OK);
        for (std::size_t k = 0; k < count; ++k) {
            CHECK(result(k)->struct_size == size);
            CHECK(result(k)->re == 450);
            CHECK(result(k)->text == nullptr);
        }
        CHECK(memory.back() == -7);
        result(7)->struct_size = size - 8;
        CHECK(perm_plan_execute_batch(plan.get(), a.values.data(), 0, count, result(0)) == PERM_BAD_ARGUMENT);
        result(0)->struct_size = 8;
        CHECK(perm_plan_execute_batch(plan.get(), a.values.data(), 0, count, result(0)) == PERM_BAD_ARGUMENT);
    }
}

TEST_CASE("one plan, executed alone and in batches by many threads at once") {
    Random random(run::seed(317));
    const perm::Csr a = erdos_renyi(7, 0.7, Entries::real, run::seed(317));
    const auto nnz = static_cast<std::int64_t>(a.col_idx.size());
    constexpr std::int64_t count = 41;
    std::vector<std::vector<double>> matrices;
    for (int k = 0; k < count; ++k) matrices.push_back(row_values(a, k % kinds, random));
    const std::vector<double> values = side_by_side(matrices, at(nnz));
    for (const double tolerance : {0.0, 1e-15}) {
        perm_opts opts = options_of({"auto", "auto", tolerance});
        opts.threads = 2;
        const PlanOf plan = plan_of(a, opts);
        Results first(count);
        REQUIRE(perm_plan_execute_batch(plan.get(), values.data(), nnz, count, first.all.data()) == PERM_OK);
        std::atomic<int> wrong = 0;
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                for (int again = 0; again < 5; ++again) {
                    Results mine(count);
                    if (t % 2 == 0)
                        wrong += perm_plan_execute_batch(plan.get(), values.data(), nnz, count,
                                                         mine.all.data()) != PERM_OK;
                    else
                        for (std::int64_t k = 0; k < count; ++k)
                            wrong +=
                                perm_plan_execute(plan.get(), values.data() + k * nnz, &mine[k]) != PERM_OK;
                    for (std::int64_t k = 0; k < count; ++k)
                        wrong += !same(mine[k].re, first[k].re) ||
                                 !same(mine[k].rel_error_bound, first[k].rel_error_bound);
                }
            });
        for (std::thread &t : threads) t.join();
        CHECK(wrong == 0);
    }
}

TEST_CASE("a batch is cancelled, stops at its time limit, and tells its progress") {
    struct Watch {
        std::atomic<bool> stop = false;
        double last = -1;
        bool falls = false;
    } watch;
    perm_opts opts = PERM_OPTS_INIT;
    opts.cancel = [](void *user) { return static_cast<Watch *>(user)->stop ? 1 : 0; };
    opts.progress = [](double fraction, double, void *user) {
        auto &self = *static_cast<Watch *>(user);
        self.falls = self.falls || fraction < self.last || fraction > 1;
        self.last = fraction;
    };
    opts.cancel_user = opts.progress_user = &watch;
    const perm::Csr a = erdos_renyi(10, 0.9, Entries::real, run::seed(318));
    for (const char *engine : {"auto", "ryser"}) {
        CAPTURE(engine);
        opts.engine = engine;
        opts.time_limit_seconds = 0;
        watch.stop = false;
        const PlanOf plan = plan_of(a, opts);
        constexpr std::int64_t count = 1000;
        Results results(count);
        watch.last = -1; // of another call
        watch.falls = false;
        REQUIRE(perm_plan_execute_batch(plan.get(), a.values.data(), 0, count, results.all.data()) ==
                PERM_OK);
        CHECK(watch.last >= 0);
        CHECK_FALSE(watch.falls);
        watch.stop = true;
        CHECK(perm_plan_execute_batch(plan.get(), a.values.data(), 0, count, results.all.data()) ==
              PERM_CANCELLED);
        for (const perm_result &r : results.all) CHECK(is_clear(r));
    }
    watch.stop = false;
    opts.engine = "ryser";
    opts.threads = 1;
    opts.time_limit_seconds = 0.05;
    const perm::Csr b = erdos_renyi(14, 1, Entries::real, run::seed(319));
    const PlanOf plan = plan_of(b, opts);
    Results results(4000);
    CHECK(perm_plan_execute_batch(plan.get(), b.values.data(), 0, 4000, results.all.data()) ==
          PERM_REFUSED_TIME);
    CHECK(is_clear(results[0]));
}

TEST_CASE("a small plan executed again allocates nothing but its text") {
    const perm::Csr a = erdos_renyi(8, 0.8, Entries::real, run::seed(320));
    const std::int64_t at_first = allocations;
    const PlanOf plan = plan_of(a);
    REQUIRE(allocations > at_first); // they are counted
    perm_result r = PERM_RESULT_INIT;
    REQUIRE(perm_plan_execute(plan.get(), a.values.data(), &r) == PERM_OK);
    CHECK(std::string(r.engine) == "frontier");
    const std::int64_t before = allocations;
    constexpr int times = 100;
    bool all = true;
    for (int k = 0; k < times; ++k)
        all = perm_plan_execute(plan.get(), a.values.data(), &r) == PERM_OK && all;
    CHECK(allocations - before <= times); // the text, before it is copied for the caller
    CHECK(all);
    perm_result_clear(&r);
}
