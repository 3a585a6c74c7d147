// Rows and columns that are multiples of each other, and plans that did or did not know of them.
#include "bench/families.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/check.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace perm::families;
using nlohmann::json;
using oracle::Exact;

// ---------------------------------------------------------------- repeated lines

TEST_CASE("all entries 0.91, n = 62: one state at a time") {
    perm_opts opts = PERM_OPTS_INIT;
    opts.without = "structure"; // which needs no states
    perm::Result r = perm::compute(constant(62, 0.91), opts);
    check_result(*r.raw(), power(Exact(0.91), 62) * factorial(62));
    CHECK(r->rel_error_bound < 1e-12);
    CHECK(r->states == 62);
    CHECK(r->peak_states == 1);
    CHECK(r->blocks == 1);
    CHECK(r->blocks_computed == 1);
}

TEST_CASE("all entries equal: n to 300; without the merging it is refused" * doctest::skip(run::sanitized)) {
    for (const std::int64_t n : {2, 3, 20, 63, 64, 65, 200, 300})
        for (const double x : {1.0, 0.91, -3.0, 1e300, 0x1p-1074}) {
            CAPTURE(n);
            CAPTURE(x);
            const perm::Csr a = constant(n, x);
            perm::Result r = perm::compute(a);
            check_result(*r.raw(), power(Exact(x), n) * factorial(n));
            CHECK(r->rel_error_bound < 1e-11);
            if (n >= 63) {
                const perm_csr view = a.view();
                const perm_opts opts = without("merge,structure");
                perm::Result none;
                CHECK(perm_compute(&view, &opts, none.raw()) / 100 == 2);
                CHECK(explained(perm::Plan(a, opts)).at("refused") == true);
            }
        }
}

TEST_CASE("a few kinds of lines, n = 40: what no sum over sets of columns could do" *
          doctest::skip(run::sanitized)) {
    Random random(run::seed(104));
    for (int i = 0; i < 10 * run::multiplier(); ++i) {
        const auto entries = i % 2 == 0 ? Entries::nonnegative : Entries::counts;
        const perm::Csr a = i % 4 < 2 ? repeated_lines(40, 3, 4, entries, random.bits())
                                      : proportional_lines(40, 4, 3, entries, random.bits());
        perm::Result r = perm::compute(a), transposed = perm::compute(transpose(a));
        REQUIRE(informative(*r.raw()));
        REQUIRE(informative(*transposed.raw()));
        CHECK(r->rel_error_bound < 1e-11);
        CHECK(overlap(Ball(*r.raw()), Ball(*transposed.raw())));
        CHECK(reduction(explained(perm::Plan(a)), "merged_lines") > 60);
    }
}

// ---------------------------------------------------------------- plans and other values

TEST_CASE("a plan made without values is executed with repeated ones, and the reverse") {
    Random random(run::seed(108));
    int merged = 0, compared = 0;
    for (int i = 0; i < run::cases(60); ++i) {
        const auto entries = static_cast<Entries>(i % 5);
        const std::int64_t n = random.integer(4, 9);
        const perm::Csr repeated = i % 2 == 0 ? repeated_lines(n, 2, 3, entries, random.bits())
                                              : proportional_lines(n, 3, 2, entries, random.bits());
        const perm::Csr plain = with_values(repeated, random_values(repeated, entries, random));
        for (const char *engine : {"auto", "frontier", "ryser"}) {
            CAPTURE(std::string(engine));
            const perm_opts opts = without(nullptr, engine);
            const perm::Plan blind = plan_of_pattern(repeated, opts), knowing(repeated, opts),
                             other(plain, opts);
            merged += reduction(explained(knowing), "merged_lines") > 0;
            CHECK(reduction(explained(blind), "merged_lines") == 0);
            for (const perm::Csr *a : {&repeated, &plain}) {
                CAPTURE(describe(*a));
                const Exact truth = oracle::by_frontier(*a);
                perm::Result results[3];
                for (const perm::Plan *plan : {&blind, &knowing, &other}) {
                    perm::Result &r = results[plan == &blind ? 0 : plan == &knowing ? 1 : 2];
                    r = plan->execute(a->values.data());
                    check_result(*r.raw(), truth);
                }
                for (perm::Result &r : results)
                    if (informative(*r.raw()) && informative(*results[0].raw())) {
                        CHECK(overlap(Ball(*r.raw()), Ball(*results[0].raw())));
                        ++compared;
                    }
            }
        }
    }
    CHECK(merged > 30);
    CHECK(compared > 200);
}

TEST_CASE("a plan refused because nothing is known to repeat runs where it does") {
    const perm::Csr a = constant(62, 0.91);
    const perm::Plan plan = plan_of_pattern(a);
    CHECK(explained(plan).at("refused") == true);
    CHECK_FALSE(explained(plan).at("refusal").get<std::string>().empty());
    CHECK(explained(plan).at("predicted_seconds").is_null());
    perm::Result r = plan.execute(a.values.data());
    check_result(*r.raw(), power(Exact(0.91), 62) * factorial(62));
    check_same_bits(*r.raw(), *perm::compute(a).raw());

    // Where nothing repeats it stays refused, as does a plan that knows of what repeats elsewhere.
    Random random(run::seed(109));
    const std::vector<double> values = random_values(a, Entries::real, random);
    const perm::Plan knowing(a);
    CHECK_FALSE(explained(knowing).contains("refusal"));
    CHECK(explained(knowing).at("refused") == false);
    perm_csr view = a.view();
    for (const bool known : {false, true}) {
        CAPTURE(known);
        perm_plan *raw = nullptr;
        view.values = known ? a.values.data() : nullptr;
        REQUIRE(perm_plan_create(&view, nullptr, &raw) == PERM_OK);
        perm::Result none;
        CHECK(perm_plan_execute(raw, values.data(), none.raw()) / 100 == 2);
        CHECK(none->text == nullptr);
        CHECK(perm_plan_execute(raw, a.values.data(), none.raw()) == PERM_OK);
        check_same_bits(*none.raw(), *r.raw());
        perm_plan_destroy(raw);
    }
}

TEST_CASE("a plan of many blocks is executed with other values, zeros among them") {
    Random random(run::seed(110));
    std::vector<perm::Csr> blocks;
    for (int k = 0; k < 12; ++k)
        blocks.push_back(
            indecomposable_blocks(1, random.integer(1, 7), 0.5, Entries::real, random.bits()).front());
    const perm::Csr a = diagonal_of(blocks);
    const perm::Plan blind = plan_of_pattern(a), knowing(a);
    for (int i = 0; i < run::cases(20); ++i) {
        perm::Csr b = with_values(a, random_values(a, static_cast<Entries>(i % 5), random));
        for (double &value : b.values)
            if (random.chance(0.02)) value = 0;
        const Exact truth = oracle::by_frontier(b);
        check_result(*blind.execute(b.values.data()).raw(), truth);
        check_result(*knowing.execute(b.values.data()).raw(), truth);
    }
}
