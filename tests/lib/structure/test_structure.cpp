// Engines background, low_rank, ferrers and separable: matrices whose values have the structure that each
// takes, and such as miss it by one entry, against exact sums over subsets and known sequences.
#include "bench/families.hpp"
#include "lib/structure/integers.hpp"
#include "tests/support/check.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"
#include "tests/support/structured.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

using namespace perm::families;
using namespace structured;
using oracle::Exact;

namespace {

// u v^T, with some entries that are something else, and now and then a line that is.
Dense on_a_background(std::int64_t n, std::int64_t others, Random &random) {
    const bool is_whole = random.chance(0.6);
    const std::vector<double> u = factors(n, random, is_whole), v = factors(n, random, is_whole);
    Dense dense;
    for (const double x : u) {
        dense.emplace_back();
        for (const double y : v) dense.back().push_back(x * y);
    }
    const auto some = [&] { return static_cast<std::size_t>(random.integer(0, n - 1)); };
    for (std::int64_t k = 0; k < others; ++k)
        dense[some()][some()] = random.chance(0.5) ? 0 : factor(random, is_whole);
    if (random.chance(0.2)) {
        const std::size_t line = some();
        for (std::size_t j = 0; j < dense.size(); ++j)
            dense[line][j] = random.chance(0.7) ? 0 : factor(random, is_whole);
    }
    return dense;
}

Dense of_rank(std::int64_t n, int rank, Random &random) {
    Dense dense(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n)));
    for (int t = 0; t < rank; ++t) {
        const std::vector<double> u = factors(n, random, true), v = factors(n, random, true);
        for (std::size_t i = 0; i < dense.size(); ++i)
            for (std::size_t j = 0; j < dense.size(); ++j) dense[i][j] += u[i] * v[j];
    }
    return dense;
}

} // namespace

TEST_CASE("a background with entries beside it, and without") {
    Random random(run::seed(0x6261636b));
    int taken = 0, near_misses = 0;
    for (int k = 0; k < run::cases(120); ++k) {
        const std::int64_t n = random.integer(12, 13);
        Dense dense = shuffled(on_a_background(n, random.integer(1, 16), random), random);
        const perm::Csr a = from_dense(dense);
        CAPTURE(describe(a));
        const Exact truth = oracle::by_ryser(a);
        check_result(*perm::compute(a).raw(), truth);
        if (auto r = asked_for("background", a, "exact")) {
            CHECK(number(r->text()) == truth);
            ++taken;
        }
        if (auto r = asked_for("background", a, "double")) check_result(*r->raw(), truth);
        if (k % 8 != 0) continue;
        dense[3][5] += 1; // another entry beside
        const perm::Csr other = from_dense(dense);
        if (auto r = asked_for("background", other, "exact")) {
            CHECK(number(r->text()) == oracle::by_ryser(other));
            ++near_misses;
        }
    }
    CHECK(taken > run::enough(80));
    CHECK(near_misses > run::enough(5));
}

TEST_CASE("complex backgrounds") {
    Random random(run::seed(0x62616363));
    check_complex_backgrounds([&random] { return from_dense(on_a_background(12, 9, random)); });
}

TEST_CASE("low ranks, and one more") {
    Random random(run::seed(0x72616e6b));
    int taken = 0;
    for (int k = 0; k < run::cases(24); ++k) {
        const int rank = 1 + k % 6;
        Dense dense = of_rank(16, rank, random);
        if (k % 5 == 4) dense[2][3] += 1; // rank + 1, or the same
        const perm::Csr a = from_dense(dense);
        CAPTURE(describe(a));
        const Exact truth = number(perm::compute(a, with("ryser", "exact")).text());
        check_result(*perm::compute(a).raw(), truth);
        if (auto r = asked_for("low_rank", a, "exact")) {
            CHECK(number(r->text()) == truth);
            ++taken;
        }
        if (auto r = asked_for("low_rank", a, "double")) check_result(*r->raw(), truth);
    }
    CHECK(taken > run::enough(16));
    Dense full = of_rank(16, 7, random);
    CHECK_FALSE(asked_for("low_rank", from_dense(full), "exact").has_value());
}

TEST_CASE("rank one up to rounding") {
    Random random(run::seed(0x72616e31));
    for (int k = 0; k < run::cases(12); ++k) {
        const std::int64_t n = 16;
        std::vector<double> x, y;
        for (std::int64_t i = 0; i < n; ++i) {
            x.push_back(random.uniform(-30, 30));
            y.push_back(random.uniform(-30, 30));
        }
        const perm::Csr a = build(n, n, [&](std::int64_t i, std::int64_t j) {
            return std::exp(x[static_cast<std::size_t>(i)] + y[static_cast<std::size_t>(j)]);
        });
        const Exact truth = number(perm::compute(a, with("ryser", "exact")).text());
        perm::Result r = perm::compute(a, with("low_rank", "double"));
        check_result(*r.raw(), truth);
        CHECK(r->rel_error_bound < 1e-11);
        CHECK_FALSE(asked_for("low_rank", a, "exact").has_value());
        check_result(*perm::compute(a).raw(), truth);
    }
}

TEST_CASE("nested rows") {
    Random random(run::seed(0x6e657374));
    int taken = 0;
    for (int k = 0; k < run::cases(40); ++k) {
        const std::int64_t n = random.integer(12, 13);
        const std::vector<double> u = factors(n, random, true), v = factors(n, random, true);
        std::vector<std::int64_t> lengths;
        for (std::int64_t i = 0; i < n; ++i) lengths.push_back(std::min(n, random.integer(i + 1, n + 3)));
        std::sort(lengths.begin(), lengths.end());
        lengths.back() = n;
        Dense dense(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n)));
        for (std::size_t i = 0; i < dense.size(); ++i)
            for (std::size_t j = 0; j < static_cast<std::size_t>(lengths[i]); ++j) dense[i][j] = u[i] * v[j];
        if (k % 4 == 3) dense[static_cast<std::size_t>(n - 1)][2] += 1;
        const perm::Csr a = from_dense(shuffled(dense, random));
        CAPTURE(describe(a));
        const Exact truth = oracle::by_ryser(a);
        check_result(*perm::compute(a).raw(), truth);
        if (auto r = asked_for("ferrers", a, "exact")) {
            CHECK(number(r->text()) == truth);
            ++taken;
        }
    }
    CHECK(taken > run::enough(15));
}

TEST_CASE("low ranks on both sides of the diagonal") {
    Random random(run::seed(0x73657061));
    const auto distance = [](double x, double y) { return std::fabs(x - y); };
    std::vector<double>
        points; // all different: of equal lines the merging scales one, so that no order is seen
    for (const std::int64_t k : random.permutation(24))
        points.push_back(static_cast<double>(3 * k + k * k % 3));
    const auto at_point = [&](std::int64_t k) { return points[static_cast<std::size_t>(k)]; };
    for (const perm::Csr &a :
         {build(24, 24, [&](std::int64_t i, std::int64_t j) { return distance(at_point(i), at_point(j)); }),
          build(24, 24, [](std::int64_t i, std::int64_t j) {
              return static_cast<double>(i < j ? 2 * j - i : i + 3 * j + 1);
          })}) {
        CAPTURE(describe(a));
        perm::Result r = perm::compute(a, with("separable", "exact"));
        CHECK(std::string(r->engine) == "separable");
        CHECK(std::string(r.text()) == perm::compute(a, with("tree", "exact")).text());
    }
}

TEST_CASE("known sequences, by default") {
    const auto by_default = [](std::int64_t n, const Entry &entry) {
        perm::Csr a = build(n, n, entry);
        const std::vector<std::int64_t> whole(a.values.begin(), a.values.end());
        perm_csr view = a.view();
        view.values = whole.data();
        view.value_type = PERM_VALUE_I64;
        perm::Result r = perm::compute(view);
        CHECK(r->exact == 1);
        return std::pair(number(r.text()), std::string(r->engine));
    };
    const auto factorial = [](unsigned long n) {
        mpz_class f;
        mpz_fac_ui(f.get_mpz_t(), n);
        return Exact(f);
    };
    { // J - 2 I
        const std::int64_t n = 60;
        Exact sum = 0;
        for (unsigned long k = 0; k <= 60; ++k) {
            mpz_class choices, power;
            mpz_bin_uiui(choices.get_mpz_t(), 60, k);
            mpz_ui_pow_ui(power.get_mpz_t(), 2, k);
            sum += (k % 2 ? -1 : 1) * Exact(choices * power) * factorial(60 - k);
        }
        const auto [value, engine] =
            by_default(n, [](std::int64_t i, std::int64_t j) { return i == j ? -1.0 : 1.0; });
        CHECK(value == sum);
        CHECK(engine == "background");
    }
    { // ménage numbers, A000179: Touchard's sum
        Exact sum = 0;
        for (unsigned long k = 0; k <= 50; ++k) {
            mpz_class choices;
            mpz_bin_uiui(choices.get_mpz_t(), 100 - k, k);
            sum += (k % 2 ? -1 : 1) * Exact(mpz_class(100 * choices), mpz_class(100 - k)) * factorial(50 - k);
        }
        sum.canonicalize();
        const auto [value, engine] = by_default(
            50, [](std::int64_t i, std::int64_t j) { return j == i || j == (i + 1) % 50 ? 0.0 : 1.0; });
        CHECK(value == sum);
        CHECK(engine == "background");
    }
    { // nested rows, a_ij = 1 for j <= i + 5
        Exact product = 1;
        for (std::int64_t i = 0; i < 40; ++i)
            product *= static_cast<double>(std::min<std::int64_t>(40, i + 6) - i);
        const auto [value, engine] =
            by_default(40, [](std::int64_t i, std::int64_t j) { return j <= i + 5 ? 1.0 : 0.0; });
        CHECK(value == product);
        CHECK(engine == "ferrers");
    }
    { // i + j, A204249: sum over k of the elementary symmetric e_k(1 .. n)^2 k! (n-k)!
        std::vector<mpz_class> e{1};
        for (long i = 1; i <= 40; ++i) {
            e.emplace_back(0);
            for (std::size_t k = e.size() - 1; k > 0; --k) e[k] += e[k - 1] * i;
        }
        Exact sum = 0;
        for (unsigned long k = 0; k <= 40; ++k)
            sum += Exact(mpz_class(e[k] * e[40 - k])) * factorial(k) * factorial(40 - k);
        const auto [value, engine] =
            by_default(40, [](std::int64_t i, std::int64_t j) { return static_cast<double>(i + j + 2); });
        CHECK(value == sum);
        CHECK(engine == "low_rank");
    }
}

// The engine that auto takes, whose value the tree confirms; and that the engine that was meant says why not.
void check_other_engine(const perm::Csr &a, const std::vector<std::int64_t> &values, const char *meant) {
    perm_csr view = a.view();
    view.values = values.data();
    view.value_type = PERM_VALUE_I64;
    CAPTURE(std::string(meant));
    try {
        static_cast<void>(perm::compute(view, with(meant, "exact")));
        FAIL_CHECK("a prime divides what it divides by");
    } catch (const perm::Error &error) {
        CHECK(error.status() == PERM_UNSUPPORTED);
        CHECK(std::string(error.what()).find("is a multiple of a prime") != std::string::npos);
    }
    if (run::sanitized) return; // the other engines have no structure to use, and take a minute
    perm::Result r = perm::compute(view, with("auto", "exact"));
    CHECK(std::string(r->engine) != meant);
    CHECK(std::string(r.text()) == perm::compute(view, with("tree", "exact")).text());
}

std::vector<std::int64_t> integers_of(const perm::Csr &a,
                                      const std::function<std::int64_t(std::int64_t, std::int64_t)> &entry) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < a.n_rows; ++i)
        for (std::int64_t k = a.row_ptr[static_cast<std::size_t>(i)];
             k < a.row_ptr[static_cast<std::size_t>(i) + 1]; ++k)
            values.push_back(entry(i, a.col_idx[static_cast<std::size_t>(k)]));
    return values;
}

perm_csr with_integers(const perm::Csr &a, const std::vector<std::int64_t> &values) {
    perm_csr view = a.view();
    view.values = values.data();
    view.value_type = PERM_VALUE_I64;
    return view;
}

// By the engine that auto takes and by its shards, as the tree has it.
void check_next_primes(const perm::Csr &a, const std::vector<std::int64_t> &values, const char *meant) {
    CAPTURE(std::string(meant));
    const perm_csr view = with_integers(a, values);
    perm::Result r = perm::compute(view, with("auto", "exact"));
    CHECK(std::string(r->engine) == meant);
    CHECK(std::string(r.text()) == perm::compute(view, with("tree", "exact")).text());
    const perm::Plan plan(view, with(meant, "exact"));
    const perm::Task task = perm::Task::plan(plan, values.data());
    std::vector<std::string> parts;
    for (std::int64_t k = 0; k < task.shards(); ++k) parts.push_back(task.run_shard(k));
    CHECK(std::string(task.combine(parts).front().text()) == r.text());
}

constexpr std::int64_t first_prime = (std::int64_t{1} << 62) - 57; // the greatest below 2^62

TEST_CASE("primes that an engine cannot divide by are left out") {
    const std::int64_t n = 24;
    const perm::Csr full = build(n, n, [](std::int64_t, std::int64_t) { return 1.0; });
    check_next_primes(full,
                      integers_of(full,
                                  [](std::int64_t i, std::int64_t j) {
                                      return i == j ? i + 2 : j == 6 && i != 3 ? first_prime : 1;
                                  }),
                      "background");
    const perm::Csr nested =
        build(n, n, [](std::int64_t i, std::int64_t j) { return j <= i + 2 ? 1.0 : 0.0; });
    check_next_primes(
        nested, integers_of(nested, [](std::int64_t, std::int64_t j) { return j == 1 ? first_prime : 1; }),
        "ferrers");
    // Of rank 1 modulo the prime, and no line a multiple of another.
    check_next_primes(full,
                      integers_of(full,
                                  [](std::int64_t i, std::int64_t j) {
                                      return (i + 1) * (j + 1) + (j % 2 ? first_prime : -first_prime);
                                  }),
                      "low_rank");
}

TEST_CASE("matrices made for the primes: auto takes another engine") {
    const std::int64_t n = 24;
    const perm::Csr full = build(n, n, [](std::int64_t, std::int64_t) { return 1.0; });
    // One prime hides what all others see.
    const auto probe = static_cast<std::int64_t>(libperm::probe_prime());
    check_other_engine(full,
                       integers_of(full,
                                   [&](std::int64_t i, std::int64_t j) {
                                       return std::abs(i - j) + 3 +
                                              ((5 * i + 3 * j + i * j) % 7 == 0 ? probe : 0);
                                   }),
                       "separable");
}

TEST_CASE("a background with much beside it hides no low ranks beside the diagonal") {
    for (const std::int64_t n : {24, 27}) {
        const perm::Csr a = build(n, n, [](std::int64_t i, std::int64_t j) {
            return i == j ? 3 + static_cast<double>(i % 7) : i < j ? 1.0 : 2.0;
        });
        const perm::Result r = perm::compute(a, with("auto", "exact"));
        CHECK(std::string(r->engine) == "separable");
        CHECK(std::string(r.text()) == perm::compute(a, with("tree", "exact")).text());
    }
}

TEST_CASE("plans: saved, shared out, and executed with other values") {
    Random random(run::seed(0x706c616e));
    for (const char *engine : {"background", "low_rank", "separable", "ferrers"}) {
        CAPTURE(std::string(engine));
        const std::string name = engine;
        const auto entry = [&](std::int64_t i, std::int64_t j) -> double {
            if (name == "background") return i == j || j == (i + 3) % 24 ? static_cast<double>(i + 2) : 1.0;
            if (name == "low_rank") return static_cast<double>(i + j + 1);
            if (name == "separable") return static_cast<double>(std::abs(i - j) + 3);
            return j <= i + 4 ? 1.0 : 0.0;
        };
        const perm::Csr a = build(24, 24, entry);
        const perm_opts opts = with("auto", "exact");
        const perm::Plan plan(a, opts);
        perm::Result whole = plan.execute(a.values.data());
        CHECK(std::string(whole->engine) == name);
        const perm::Plan loaded = perm::Plan::load(plan.save(), opts);
        CHECK(std::string(loaded.execute(a.values.data()).text()) == whole.text());
        const perm::Task task = perm::Task::plan(loaded, a.values.data());
        std::vector<std::string> parts;
        for (std::int64_t k = 0; k < task.shards(); ++k) parts.push_back(task.run_shard(k));
        CHECK(std::string(task.combine(parts).front().text()) == whole.text());
        // The same structure with other numbers, and none: planned anew as they come.
        std::vector<double> twice = a.values;
        for (double &x : twice) x *= 2;
        CHECK(number(plan.execute(twice.data()).text()) == number(whole.text()) * Exact(1 << 24));
        std::vector<double> other = a.values;
        other[5] += 2;
        other[77] += 1;
        const perm::Csr changed = [&] {
            perm::Csr b = a;
            b.values = other;
            return b;
        }();
        CHECK(std::string(plan.execute(other.data()).text()) == perm::compute(changed, opts).text());
    }
}
