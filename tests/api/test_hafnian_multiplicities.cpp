// Hafnians of lines that count several times, or are equal, through the C API: against their definition, and
// against closed forms where no definition goes.
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/graph_matchings.hpp"
#include "tests/support/plan_shards.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

using namespace perm::families;
using oracle::Gaussian;

namespace {

// Of at most so many lines in all, each mode as often as chance has it.
DrawnGraph draw_modes(Random &random, const DrawnKind &kind, std::int64_t most_lines) {
    DrawnGraph drawn{random_graph(random, 4, kind.draw), "hafnian", {}};
    MatchingMatrix &a = drawn.matrix;
    const bool has_loops = random.chance(0.4);
    if (has_loops) drawn.function = "loop_hafnian";
    if (random.chance(0.3)) {
        a.row_weights.emplace();
        for (std::int64_t i = 0; i < a.cols; ++i)
            a.row_weights->push_back(random.chance(0.2) ? Gaussian{} : kind.draw(random));
    }
    for (std::int64_t i = 0, left = most_lines; i < a.cols; ++i, left -= a.row_times.back())
        a.row_times.push_back(random.integer(0, std::min<std::int64_t>(left, 6)));
    canonicalize(a);
    drawn.truth = oracle::over_pairs(a, has_loops);
    return drawn;
}

// Modes of one entry with all others, one with themselves, and one loop.
Given modes(std::size_t n, double across, double within) {
    oracle::GaussianMatrix a(n, std::vector<Gaussian>(n, real_number(across)));
    for (std::size_t i = 0; i < n; ++i) a[i][i] = real_number(within);
    return given(a, As::text);
}
perm_csr times(const Given &given, const std::vector<std::int64_t> &count) {
    perm_csr a = given.csr;
    a.row_multiplicity = count.data();
    return a;
}

// Symmetric, positive, in general.
oracle::GaussianMatrix positive_modes(std::size_t n, Random &random) {
    oracle::GaussianMatrix a(n, std::vector<Gaussian>(n));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i; j < n; ++j) a[i][j] = a[j][i] = real_number(random.uniform(0.1, 1));
    return a;
}

mpz_class matchings_of_complete(unsigned long lines) { // (lines - 1)!!
    mpz_class product = 1;
    for (unsigned long k = lines; k > 1; k -= 2) product *= k - 1;
    return product;
}

// A batch has texts only where there is more to say than a double holds.
void check_same_numbers(const perm_result &one, const perm_result &of_batch) {
    CHECK(one.re == of_batch.re);
    CHECK(one.im == of_batch.im);
    CHECK(one.rel_error_bound == of_batch.rel_error_bound);
    if (of_batch.text) CHECK(std::string(one.text) == of_batch.text);
}

std::string text_of(const perm_csr &a, const perm_opts &opts) {
    return std::string(perm::compute(a, opts).text());
}

} // namespace

TEST_CASE("modes of several photons are sums over the pairings") {
    Random random(run::seed(4101));
    int nonzero = 0, by_hermite = 0;
    for (const DrawnKind &kind : kinds_of_numbers)
        for (int k = 0; k < run::cases(60); ++k) {
            const DrawnGraph drawn = draw_modes(random, kind, 12);
            const MatchingInput input(drawn.matrix, kind.type, random);
            nonzero += !is_zero(drawn.truth);
            CAPTURE(kind.name);
            CAPTURE(k);
            CAPTURE(drawn.function);
            for (const char *precision : {"auto", "exact", "dd", "mpfr:100"})
                for (const char *engine : {"auto", "hermite"}) {
                    CAPTURE(precision);
                    CAPTURE(engine);
                    perm_opts opts = of_function(drawn.function, engine, precision);
                    perm::Result result;
                    const perm_status status = perm_compute(&input.csr(), &opts, result.raw());
                    if (status == PERM_UNSUPPORTED)
                        continue; // not of blocks of two sides, or not of such numbers
                    REQUIRE(status == PERM_OK);
                    check_gaussian(*result.raw(), drawn.truth);
                    by_hermite += std::string_view(result->engine) == "hermite";
                }
        }
    CHECK(nonzero > run::enough(100));
    CHECK(by_hermite > run::enough(200));
}

TEST_CASE("one mode of m photons, and modes that are all alike") {
    for (const std::int64_t m : {2, 12, 60, 200}) {
        CAPTURE(m);
        const std::vector<std::int64_t> count{m};
        const Given one = modes(1, 0, 1);
        CHECK(text_of(times(one, count), of_function("hafnian", "auto", "exact")) ==
              matchings_of_complete(static_cast<unsigned long>(m)).get_str());
        mpz_class before = 1, now = 1; // involutions: as many as there are matchings with single lines
        for (std::int64_t n = 2; n <= m; ++n) {
            const mpz_class next = now + (n - 1) * before;
            before = now;
            now = next;
        }
        CHECK(text_of(times(one, count), of_function("loop_hafnian", "auto", "exact")) == now.get_str());
    }
    const std::vector<std::int64_t> elevens(4, 11);
    const Given four = modes(4, 1, 1);
    CHECK(text_of(times(four, elevens), of_function("hafnian", "auto", "exact")) ==
          matchings_of_complete(44).get_str());
}

TEST_CASE("complete multipartite graphs, with multiplicities and written out") {
    // Of three parts of n lines each pair shares n/2 edges.
    for (const unsigned long n : {2ul, 4ul, 10ul}) {
        CAPTURE(n);
        const mpz_class one = mpz_class::factorial(n) / mpz_class::factorial(n / 2); // C(n, n/2) (n/2)!
        const mpz_class truth = one * one * one;
        const std::vector<std::int64_t> count(3, static_cast<std::int64_t>(n));
        const Given three = modes(3, 1, 0);
        CHECK(text_of(times(three, count), of_function("hafnian", "auto", "exact")) == truth.get_str());
        oracle::GaussianMatrix all(3 * n, std::vector<Gaussian>(3 * n));
        for (std::size_t i = 0; i < 3 * n; ++i)
            for (std::size_t j = 0; j < 3 * n; ++j)
                if (i % 3 != j % 3) all[i][j] = real_number(1);
        const Given written = given(all, As::text);
        CHECK(text_of(written.csr, of_function("hafnian")) == truth.get_str());
        if (n == 10)
            CHECK(std::string(perm::compute(written.csr, of_function("hafnian"))->engine) == "hermite");
    }
}

TEST_CASE("44 photons in four modes: doubles within their bounds of what is exact") {
    Random random(run::seed(4102));
    const std::vector<std::int64_t> elevens(4, 11);
    for (const char *function : {"hafnian", "loop_hafnian"}) {
        const Given four = given(positive_modes(4, random), As::complex);
        const perm_csr a = times(four, elevens);
        const Gaussian truth = number_of(text_of(a, of_function(function, "auto", "exact")));
        for (const char *precision : {"auto", "dd", "mpfr:200"}) {
            CAPTURE(precision);
            perm::Result result = perm::compute(a, of_function(function, "auto", precision));
            check_gaussian(*result.raw(), truth);
            CHECK(result->rel_error_bound < 1e-11);
            CHECK(std::string(result->engine) == "hermite");
        }
    }
}

TEST_CASE("plans of modes take any values, saved, in batches and in shards") {
    Random random(run::seed(4103));
    int compared = 0;
    for (const DrawnKind &kind : kinds_of_numbers)
        for (int k = 0; k < run::cases(25); ++k) {
            const DrawnGraph drawn = draw_modes(random, kind, 11);
            const MatchingInput input(drawn.matrix, kind.type, random);
            CAPTURE(kind.name);
            CAPTURE(k);
            const perm_opts opts = of_function(drawn.function);
            perm_csr unknown = input.csr();
            if (k % 2 == 0) unknown.values = nullptr;
            if (unknown.values == nullptr && unknown.row_unmatched != nullptr)
                unknown.values = input.csr().values;
            const perm::Plan plan(unknown, opts);
            perm::Result once = plan.execute(input.values());
            check_gaussian(*once.raw(), drawn.truth);
            const perm::Plan loaded = perm::Plan::load(plan.save());
            check_same_answer(*once.raw(), *loaded.execute(input.values()).raw());
            perm::Result of_batch;
            REQUIRE(perm_plan_execute_batch(plan.raw(), input.values(), 0, 1, of_batch.raw()) == PERM_OK);
            check_same_numbers(*once.raw(), *of_batch.raw());
            check_same_answer(*once.raw(), *in_shards(plan, input.values()).raw());
            ++compared;
        }
    CHECK(compared > 0);
}

TEST_CASE("values that do not repeat any more, in a plan of values that did") {
    Random random(run::seed(4104));
    int repeated = 0;
    for (int k = 0; k < run::cases(40); ++k) {
        CAPTURE(k);
        const auto n = static_cast<std::size_t>(random.integer(6, 11));
        const bool has_loops = random.chance(0.5);
        MatchingMatrix equal, other;
        equal.cols = other.cols = static_cast<std::int64_t>(n);
        equal.entries.assign(n, std::vector<Gaussian>(n, real_number(0.5)));
        other.entries = positive_modes(n, random);
        const Given as_equal = given(equal.entries, As::complex),
                    as_other = given(other.entries, As::complex);
        const perm_opts opts = of_function(has_loops ? "loop_hafnian" : "hafnian");
        const perm::Plan plan(as_equal.csr, opts);
        const perm::Plan loaded = perm::Plan::load(plan.save());
        for (const perm::Plan *p : {&plan, &loaded}) {
            check_gaussian(*p->execute(as_equal.csr.values).raw(), oracle::over_pairs(equal, has_loops));
            check_gaussian(*p->execute(as_other.csr.values).raw(), oracle::over_pairs(other, has_loops));
        }
        // And the other way round.
        const perm::Plan of_other(as_other.csr, opts);
        check_gaussian(*of_other.execute(as_equal.csr.values).raw(), oracle::over_pairs(equal, has_loops));
        std::vector<double> both(as_equal.complex);
        both.insert(both.end(), as_other.complex.begin(), as_other.complex.end());
        std::array<perm_result, 2> results{perm_result(PERM_RESULT_INIT), perm_result(PERM_RESULT_INIT)};
        const auto stride = static_cast<std::int64_t>(as_equal.complex.size() / 2);
        REQUIRE(perm_plan_execute_batch(plan.raw(), both.data(), stride, 2, results.data()) == PERM_OK);
        check_same_numbers(*plan.execute(as_equal.csr.values).raw(), results[0]);
        check_same_numbers(*plan.execute(as_other.csr.values).raw(), results[1]);
        for (perm_result &result : results) perm_result_clear(&result);
        ++repeated;
    }
    CHECK(repeated > 0);
}

TEST_CASE("the same bits on any number of threads") {
    Random random(run::seed(4105));
    const std::vector<std::int64_t> count{9, 8, 7, 6, 6};
    const Given five = given(positive_modes(5, random), As::complex);
    for (const char *precision : {"auto", "dd", "exact"}) {
        CAPTURE(precision);
        perm_opts opts = of_function("loop_hafnian", "auto", precision);
        opts.threads = 1;
        perm::Result one = perm::compute(times(five, count), opts);
        CHECK(std::string(one->engine) == "hermite");
        for (opts.threads = 2; opts.threads <= 4; ++opts.threads)
            check_same_answer(*one.raw(), *perm::compute(times(five, count), opts).raw());
    }
}
