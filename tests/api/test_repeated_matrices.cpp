// Plain matrices of equal cells through the C API: which engine answers, what it tells, other values, plans
// that travel, limits.
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/run.hpp"

#include "bench/families.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace perm::families;

namespace {

// On the diagonals -reach to reach the first value, and for each below the last one so much more.
perm::Csr band(std::int64_t n, double value, double more, std::int64_t reach = 2) {
    perm::Csr a;
    a.n_rows = a.n_cols = n;
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = std::max<std::int64_t>(0, i - reach); j <= std::min(n - 1, i + reach); ++j) {
            a.col_idx.push_back(j);
            a.values.push_back(value + static_cast<double>(i + reach - j) * more);
        }
        a.row_ptr.push_back(std::ssize(a.col_idx));
    }
    return a;
}

perm::Csr pattern_of(perm::Csr a) {
    a.pattern = true;
    return a;
}

struct Destroy {
    void operator()(perm_plan *plan) const { perm_plan_destroy(plan); }
};
using OwnPlan = std::unique_ptr<perm_plan, Destroy>;

perm::Result executed(const OwnPlan &plan, const std::vector<double> &values) {
    perm::Result r;
    REQUIRE(perm_plan_execute(plan.get(), values.data(), r.raw()) == PERM_OK);
    return r;
}

} // namespace

TEST_CASE("a long band: exactly where it counts, in doubles elsewhere, and told as it is") {
    const perm::Csr ones = pattern_of(band(3000, 1, 0));
    perm::Result r;
    const perm::Plan account = perm::Plan::compute(ones.view(), PERM_OPTS_INIT, r);
    CHECK(std::string(r->engine) == "periodic");
    CHECK(r->exact == 1);
    CHECK(r->n == 3000);
    CHECK(r->blocks == 1);
    const auto told = nlohmann::json::parse(account.explain(PERM_FORMAT_JSON));
    CHECK(told.at("engine") == "periodic");
    CHECK(told.at("cells").at("count") == 3000);
    CHECK(told.at("cells").at("rows") == 1);
    CHECK(account.explain().find("3000 equal cells of 1 row") != std::string::npos);

    perm_opts opts = PERM_OPTS_INIT;
    opts.without = "periodic";
    const perm::Result in_blocks = perm::compute(ones, opts);
    CHECK(std::string(in_blocks->engine) == "frontier");
    CHECK(in_blocks->rel_error_bound < 1e-9);
    opts.precision = "exact";
    CHECK(perm::compute(ones, opts).text() == r.text());

    opts.without = nullptr;
    for (const int threads : {1, 2, 3}) { // the same bits
        opts.threads = threads;
        for (const char *precision : {"double", "dd", "exact", "mod:1000003"}) {
            opts.precision = precision;
            perm_opts alone = opts;
            alone.threads = 1;
            const perm::Csr a = band(1500, 0.75, 0.125);
            const perm::Result x = perm::compute(a, opts), y = perm::compute(a, alone);
            CHECK(std::string(x->engine) == "periodic");
            CHECK(x->mantissa_re == y->mantissa_re);
            CHECK(x->exp2 == y->exp2);
            CHECK(x.text() == y.text());
        }
    }
    opts = PERM_OPTS_INIT; // other numbers, or an engine by its name
    opts.precision = "mpfr:80";
    CHECK(std::string(perm::compute(ones, opts)->engine) == "frontier");
    opts = with_engine("frontier");
    CHECK(std::string(perm::compute(ones, opts)->engine) == "frontier");
    CHECK(status_of(ones.view(), with_engine("periodic")) == PERM_BAD_OPTION);
}

TEST_CASE("a plan of equal cells and values of other cells, or of none") {
    Random random(run::seed(9901));
    const perm::Csr a = band(1200, 1, 0.25);
    perm_plan *made = nullptr;
    const perm_csr view = a.view();
    REQUIRE(perm_plan_create(&view, nullptr, &made) == PERM_OK);
    const OwnPlan plan(made);
    const auto in_blocks = [](const perm::Csr &matrix) {
        perm_opts opts = PERM_OPTS_INIT;
        opts.without = "periodic";
        return perm::compute(matrix, opts);
    };
    const auto agrees = [](const perm::Result &x, const perm::Result &y) {
        CHECK(x->exp2 == y->exp2);
        CHECK(x->mantissa_re ==
              doctest::Approx(y->mantissa_re).epsilon(x->rel_error_bound + y->rel_error_bound + 1e-15));
    };
    perm::Csr b = a;
    const perm::Result same = executed(plan, b.values);
    CHECK(std::string(same->engine) == "periodic");
    agrees(same, in_blocks(b));
    for (double &x : b.values) x *= 0.5; // of other cells
    const perm::Result halves = executed(plan, b.values);
    CHECK(std::string(halves->engine) == "periodic");
    agrees(halves, in_blocks(b));
    for (double &x : b.values) x = random.uniform(0.5, 1); // of none
    const perm::Result any = executed(plan, b.values);
    CHECK(std::string(any->engine) == "frontier");
    agrees(any, in_blocks(b));
    std::vector<double> both = a.values;
    both.insert(both.end(), b.values.begin(), b.values.end());
    std::vector<perm_result> results(2, perm_result PERM_RESULT_INIT);
    REQUIRE(perm_plan_execute_batch(plan.get(), both.data(), std::ssize(a.values), 2, results.data()) ==
            PERM_OK);
    CHECK(results[0].mantissa_re == same->mantissa_re);
    CHECK(results[1].mantissa_re == any->mantissa_re);
    for (perm_result &r : results) perm_result_clear(&r);

    // What is saved and shared out is in blocks, as another machine takes it.
    std::size_t size = 0;
    REQUIRE(perm_plan_save(plan.get(), nullptr, 0, &size) == PERM_OK);
    std::string bytes(size, '\0');
    REQUIRE(perm_plan_save(plan.get(), bytes.data(), size, nullptr) == PERM_OK);
    REQUIRE(perm_plan_load(bytes.data(), size, nullptr, &made) == PERM_OK);
    const OwnPlan loaded(made);
    CHECK(perm_plan_check_matrix(loaded.get(), &view) == PERM_OK);
    const perm::Result there = executed(loaded, a.values);
    CHECK(std::string(there->engine) == "frontier");
    agrees(there, same);
    const auto task_of = [&](const OwnPlan &of) {
        perm_task *task = nullptr;
        REQUIRE(perm_task_plan(of.get(), a.values.data(), &task) == PERM_OK);
        return std::unique_ptr<perm_task, perm_status (*)(perm_task *)>(task, perm_task_destroy);
    };
    const auto here = task_of(plan), elsewhere = task_of(loaded);
    std::int64_t shards = 0, loaded_shards = 0;
    REQUIRE(perm_task_shards(here.get(), &shards, nullptr, nullptr) == PERM_OK);
    REQUIRE(perm_task_shards(elsewhere.get(), &loaded_shards, nullptr, nullptr) == PERM_OK);
    CHECK(shards == loaded_shards);
    std::vector<perm_partial> partials(static_cast<std::size_t>(shards), perm_partial PERM_PARTIAL_INIT);
    for (std::int64_t k = 0; k < shards; ++k)
        REQUIRE(perm_task_run_shard(k % 2 == 0 ? here.get() : elsewhere.get(), k,
                                    &partials[static_cast<std::size_t>(k)]) == PERM_OK);
    perm::Result combined;
    perm_answer answer = PERM_ANSWER_INIT;
    answer.results = combined.raw();
    answer.count = 1;
    REQUIRE(perm_task_combine(here.get(), partials.data(), shards, &answer) == PERM_OK);
    CHECK(combined->mantissa_re == there->mantissa_re);
    for (perm_partial &p : partials) perm_partial_clear(&p);
}

TEST_CASE("a ring's plan and values that are a band's with a head and a tail of its width") {
    constexpr std::int64_t n = 1700;
    perm::Csr ring;
    ring.n_rows = ring.n_cols = n;
    for (std::int64_t i = 0; i < n; ++i) {
        std::vector<std::int64_t> columns{(i + n - 1) % n, i, (i + 1) % n};
        std::sort(columns.begin(), columns.end());
        ring.col_idx.insert(ring.col_idx.end(), columns.begin(), columns.end());
        ring.values.resize(ring.col_idx.size(), 1);
        ring.row_ptr.push_back(std::ssize(ring.col_idx));
    }
    const perm_csr given = ring.view();
    perm_plan *raw = nullptr;
    REQUIRE(perm_plan_create(&given, nullptr, &raw) == PERM_OK);
    const OwnPlan plan(raw);
    CHECK(std::string(executed(plan, ring.values)->engine) == "periodic");
    for (const std::size_t changed : {0u, 1u, 2u, 4u}) {
        std::vector<double> values = ring.values;
        values[changed] = 2;
        perm::Result r = executed(plan, values);
        perm::Csr other = ring;
        other.values = values;
        perm_opts opts = PERM_OPTS_INIT;
        opts.without = "periodic";
        opts.precision = "exact";
        perm::Result truth = perm::compute(other, opts);
        REQUIRE(truth->exact == 1);
        check_result(*r.raw(), oracle::Exact(truth.text()));
    }
}

TEST_CASE("limits of long matrices of equal cells") {
    const perm::Csr a = band(200000, 1, 0);
    perm_opts opts = PERM_OPTS_INIT;
    opts.cancel = [](void *) { return 1; };
    CHECK(status_of(a.view(), opts) == PERM_CANCELLED);
    opts = PERM_OPTS_INIT;
    opts.precision = "exact";
    opts.time_limit_seconds = 1e-3;
    CHECK(status_of(a.view(), opts) == PERM_REFUSED_TIME);
    if (run::sanitized) return;
    // Wider than the states that fit: as it is without.
    opts = PERM_OPTS_INIT;
    opts.memory_limit_bytes = 1 << 20;
    const perm::Csr wide = band(400, 1, 0, 12);
    perm_opts in_blocks = opts;
    in_blocks.without = "periodic";
    CHECK(status_of(wide.view(), opts) == status_of(wide.view(), in_blocks));
}
