// The engines from inside: both forms of the frontier on the same programs, and the arithmetic beneath them.
#include "bench/families.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/frontier/dense_layout.hpp"
#include "lib/frontier/forms.hpp"
#include "lib/frontier/state_key.hpp"
#include "lib/input/matrix.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/scaled.hpp"
#include "lib/run/results.hpp"
#include "preprocess/scaling.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <gmpxx.h>

using namespace libperm;
namespace families = perm::families;

namespace {

struct Prepared {
    Block block;
    FrontierProgram program;
};

Prepared prepare(const perm::Csr &matrix) {
    const perm_csr view = matrix.view();
    const InputPattern input = read_pattern(&view);
    Prepared p{{input.pattern, {}}, {}};
    for (const double x : read_values(input, view.values).real) p.block.values.push_back(tracked(x));
    const auto sides = frontier_sides(input.pattern, {});
    const FrontierOrder order = find_frontier_order(sides, {});
    p.program = build_frontier_program(sides[order.transposed ? 1 : 0], order);
    return p;
}

Outcome compute(const Prepared &p, FrontierForm form, int threads = 2, std::int64_t memory_limit = 1 << 30) {
    MemoryBudget memory(memory_limit);
    Outcome outcome;
    Block block = p.block;
    const std::int64_t exp2 = scale(block);
    with_threads(threads, [&] {
        outcome = outcome_of(run_frontier(form, {block, p.program, memory, threads}));
    });
    if (outcome.value.mantissa != 0) outcome.value.exp2 -= exp2;
    if (outcome.error.mantissa != 0) outcome.error.exp2 -= exp2;
    return outcome;
}

std::uint64_t test_seed() { return run::seed(0x656e67); }

mpq_class exactly(const Scaled &x) {
    mpq_class q(x.mantissa);
    if (x.exp2 >= 0)
        mpq_mul_2exp(q.get_mpq_t(), q.get_mpq_t(), static_cast<mp_bitcnt_t>(x.exp2));
    else
        mpq_div_2exp(q.get_mpq_t(), q.get_mpq_t(), static_cast<mp_bitcnt_t>(-x.exp2));
    return q;
}

} // namespace

TEST_CASE("sparse and dense frontier agree within their bounds, small and large") {
    int compared = 0;
    for (std::uint64_t seed = test_seed(); seed < test_seed() + 60; ++seed) {
        CAPTURE(seed);
        const bool is_signed = seed % 2 == 0;
        const std::int64_t n = 4 + static_cast<std::int64_t>(seed % 23);
        const auto entries = is_signed ? families::Entries::real : families::Entries::nonnegative;
        const Prepared p = prepare(families::permutation_plus(n, n > 20 ? 4 : 3, entries, seed));
        const Outcome sparse = compute(p, FrontierForm::sparse), dense = compute(p, FrontierForm::dense);
        const mpq_class x = exactly(sparse.value), y = exactly(dense.value);
        if (!(sparse.rel_error_bound < 0.1 && dense.rel_error_bound < 0.1)) continue;
        ++compared;
        const mpq_class allowed = abs(x) * mpq_class(1.2 * (sparse.rel_error_bound + dense.rel_error_bound));
        CHECK(abs(x - y) <= allowed);
    }
    CHECK(compared > 40);
}

TEST_CASE("both forms cut large rows into pieces without the result noticing") {
    for (const auto entries : {families::Entries::nonnegative, families::Entries::real}) {
        const Prepared p = prepare(families::erdos_renyi(30, 0.22, entries, 5));
        for (const FrontierForm form : {FrontierForm::sparse, FrontierForm::dense}) {
            const Outcome one = compute(p, form, 1);
            CHECK(one.counts.peak_states > 20000); // so that there were pieces
            for (const int threads : {2, 3, 5}) {
                const Outcome more = compute(p, form, threads);
                CHECK(more.value.mantissa == one.value.mantissa);
                CHECK(more.value.exp2 == one.value.exp2);
                CHECK(more.rel_error_bound == one.rel_error_bound);
            }
        }
    }
}

TEST_CASE("a state list is never larger than the bound that was predicted for it") {
    const Prepared p = prepare(families::erdos_renyi(24, 0.25, families::Entries::ones, 7));
    double bound = 0, dense = 0;
    for (const FrontierStep &s : p.program.steps) bound = std::max(bound, s.states_bound);
    const Outcome sparse = compute(p, FrontierForm::sparse);
    dense = compute(p, FrontierForm::dense).counts.peak_states;
    CHECK(sparse.counts.peak_states <= bound * (1 + 1e-9));
    CHECK(bound <= dense * (1 + 1e-9));
}

TEST_CASE("the sparse form stays within 2.5 times its peak of states and stops at the memory limit") {
    const Prepared p = prepare(families::erdos_renyi(32, 0.22, families::Entries::real, 11));
    const Outcome outcome = compute(p, FrontierForm::sparse);
    const double state = 8.0 + static_cast<double>(number_bytes(false));
    REQUIRE(outcome.counts.peak_states > 300000);
    CHECK(static_cast<double>(outcome.counts.peak_bytes) <= 2.5 * outcome.counts.peak_states * state);
    try {
        compute(p, FrontierForm::sparse, 2, outcome.counts.peak_bytes / 2);
        FAIL("the memory limit was not kept");
    } catch (const Error &e) {
        CHECK(e.status() == PERM_REFUSED_MEMORY);
    }
}

TEST_CASE("a layout ranks every subset of its weight once") {
    for (const SlotSet open : {SlotSet{0b1011}, SlotSet{0x3f0f0}, SlotSet{0xffff}, SlotSet{0x5a5a5}})
        for (int weight = 0; weight <= std::popcount(open); ++weight) {
            MemoryBudget memory(1 << 20);
            FrontierLayout layout(memory);
            layout.assign(open, weight);
            std::vector<char> met(static_cast<std::size_t>(layout.size()), 0);
            for (SlotSet s = open;; s = (s - 1) & open) {
                if (std::popcount(s) == weight) {
                    const auto block = static_cast<std::int64_t>(pack_bits(s & ~low_mask, layout.high));
                    const auto place =
                        static_cast<std::size_t>(layout.begin(block)) + layout.low.rank[s & low_mask];
                    REQUIRE(place < met.size());
                    CHECK(!met[place]);
                    met[place] = 1;
                }
                if (s == 0) break;
            }
            CHECK(std::count(met.begin(), met.end(), 1) == layout.size());
        }
}

TEST_CASE_TEMPLATE("keys of several words order and combine as one long number", Key, StateKey<1>,
                   StateKey<2>, StateKey<4>) {
    const std::int32_t slots = 64 * static_cast<std::int32_t>(sizeof(Key) / 8);
    for (std::int32_t s = 0; s + 1 < slots; ++s) {
        CHECK(Key::slot(s) < Key::slot(s + 1));
        CHECK((Key::slots_from(s) & Key::slot(s)) == Key::slot(s));
        CHECK((Key::slots_from(s) & Key::slot(slots - 1)) == Key::slot(slots - 1));
        CHECK((Key::slots_from(s + 1) & Key::slot(s)) == Key{});
        CHECK(Key::slot(s) + Key::slot(s + 1) == (Key::slot(s) | Key::slot(s + 1)));
        CHECK((Key::slot(s) | Key::slot(s + 1)) - Key::slot(s + 1) == Key::slot(s));
        CHECK((Key::slot(s) | Key::slot(s + 1)).shows(Key::slot(s), Key::slot(s)));
        CHECK(Key::slot(s).shows(Key::slot(s), Key::slot(s) | Key::slot(s + 1)));
        CHECK(!(Key::slot(s) | Key::slot(s + 1)).shows(Key::slot(s), Key::slot(s) | Key::slot(s + 1)));
        if (s % 64 < 62) CHECK(Key::slot(s, 3) + Key::slot(s, 2) == Key::slot(s, 5));
    }
}

TEST_CASE("double-double sums err by no more than their stated bounds") {
    families::Random random(test_seed());
    for (int trial = 0; trial < 20000; ++trial) {
        const auto number = [&] {
            return std::ldexp(random.uniform(-1, 1), static_cast<int>(random.integer(-40, 40)));
        };
        const DoubleDouble x = two_sum(number(), number() * 0x1p-50);
        const DoubleDouble y =
            trial % 3 ? two_sum(number(), number() * 0x1p-50) : two_sum(-x.hi, number() * 0x1p-60);
        const auto exact = [](const DoubleDouble &v) { return mpq_class(mpq_class(v.hi) + mpq_class(v.lo)); };
        const DoubleDouble wide = x + y, narrow = x + y.hi;
        CHECK(abs(exact(wide) - exact(x) - exact(y)) <= abs(exact(x) + exact(y)) * mpq_class(3 * 0x1p-106));
        CHECK(abs(exact(narrow) - exact(x) - mpq_class(y.hi)) <=
              abs(exact(x) + mpq_class(y.hi)) * mpq_class(0x1p-105));
    }
}

TEST_CASE("numbers of any exponent become the right text") {
    CHECK(to_text(Scaled{}, every_digit) == "0");
    CHECK(to_text(make_scaled(1), every_digit) == "1");
    CHECK(to_text(make_scaled(-24), every_digit) == "-24");
    CHECK(to_text(make_scaled(24), 17) == "2.4000000000000000e+01");
    CHECK(to_text(make_scaled(0.5), every_digit) == "5.0000000000000000e-01");
    CHECK(to_text(make_scaled(100), every_digit) == "100");
    CHECK(to_text(make_scaled(1, 200), every_digit) == mpz_class(mpz_class(1) << 200).get_str());
    CHECK(to_text(make_scaled(1, 4000), 17).ends_with("e+1204"));
    CHECK(to_text(make_scaled(-1, -4000), 17).ends_with("e-1205"));
    CHECK(to_double(make_scaled(1, 5000)) == HUGE_VAL);
    CHECK(to_double(make_scaled(1, -5000)) == 0);
    CHECK(to_double(make_scaled(3, -1074)) == std::ldexp(3.0, -1074));
}
