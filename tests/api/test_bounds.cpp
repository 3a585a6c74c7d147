// The reported bound is never too small: adversarial values against exact arithmetic. And answers beyond the
// range of double are answers.
#include "bench/families.hpp"
#include "tests/support/check.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

using namespace perm::families;
using oracle::Exact;

namespace {

const char *const engines[] = {"ryser", "frontier", "auto"};

void check_engines(const perm::Csr &a) {
    CAPTURE(describe(a));
    const Exact truth = oracle::by_frontier(a);
    for (const char *engine : engines) check_result(*perm::compute(a, with_engine(engine)).raw(), truth);
}

// Random matrices with entries from `number`; returns nothing, checks every engine on each.
void check_random(std::uint64_t salt, int cases, std::int64_t largest,
                  const std::function<double(Random &)> &number) {
    Random random(run::seed(salt));
    for (int i = 0; i < cases * run::multiplier(); ++i) {
        const double density = random.uniform(0.3, 1);
        const std::int64_t n = random.integer(2, largest);
        check_engines(build(n, n, [&](std::int64_t row, std::int64_t column) {
            return row == column || random.chance(density) ? number(random) : 0.0;
        }));
    }
}

double sign(Random &random) { return random.chance(0.5) ? 1.0 : -1.0; }

} // namespace

TEST_CASE("entries of both signs") {
    check_random(40, 200, 12, [](Random &r) { return random_entry(Entries::real, r); });
}

TEST_CASE("entries from 1e-300 to 1e300 in one matrix") {
    check_random(41, 200, 9, [](Random &r) { return sign(r) * std::pow(10.0, r.uniform(-300, 300)); });
    check_random(42, 200, 9, [](Random &r) { return std::pow(10.0, r.uniform(-300, 300)); });
}

TEST_CASE("subnormal entries") {
    check_random(43, 200, 9,
                 [](Random &r) { return sign(r) * 0x1p-1074 * static_cast<double>(r.integer(1, 5000)); });
    check_random(44, 100, 9, [](Random &r) {
        return r.chance(0.5) ? 0x1p-1074 * static_cast<double>(r.integer(1, 9)) : r.uniform(0.5, 1);
    });
    check_engines(constant(6, 1e-320));
    check_engines(constant(1, std::numeric_limits<double>::denorm_min()));
}

TEST_CASE("entries at the end of the range") {
    constexpr double largest = std::numeric_limits<double>::max();
    check_engines(constant(1, largest));
    check_engines(constant(5, largest));
    check_random(45, 50, 8, [](Random &r) { return sign(r) * largest * r.uniform(0.5, 1); });
    check_random(46, 50, 8,
                 [](Random &r) { return r.chance(0.5) ? largest : std::numeric_limits<double>::min(); });
}

TEST_CASE("numbers that round in every operation") {
    check_random(47, 100, 10, [](Random &r) { return 1 + r.uniform() * 0x1p-20; });
    check_random(48, 100, 10, [](Random &r) { return sign(r) / static_cast<double>(r.integer(1, 9)); });
}

TEST_CASE("cancellation: rank one with signs, Hadamard, negated blocks") {
    Random random(run::seed(49));
    for (int i = 0; i < run::cases(20); ++i) {
        std::vector<double> u, v;
        for (std::int64_t k = random.integer(2, 11); k > 0; --k) {
            u.push_back(sign(random) * static_cast<double>(random.integer(1, 1000)));
            v.push_back(sign(random) * static_cast<double>(random.integer(1, 1000)));
        }
        check_engines(outer(u, v));
    }
    for (const std::int64_t n : {2, 4, 8}) check_engines(hadamard(n));
    for (std::int64_t p = 0; p <= 10; ++p) check_engines(negated_block(10, p, 5));
    check_engines(ones_and_diagonal(12, 1, -1.0000000001));
}

TEST_CASE("cancellation to a permanent far below its terms") {
    // [[1, 1], [-1 + e, 1]] has the permanent e; a block sum of k of them e^k, of terms of size 1.
    for (const double e : {0x1p-10, 0x1p-40, 0x1p-52}) {
        perm::Csr a = from_dense({{1, 1}, {-1 + e, 1}});
        for (int k = 0; k < 3; ++k) {
            check_engines(a);
            a = block_sum(a, from_dense({{1, 1}, {-1 + e, 1}}));
        }
    }
    // One that is exactly 0 although no product is.
    check_engines(from_dense({{0.1, 0.3}, {-0.1, 0.3}}));
    check_engines(from_dense({{1, 1, 0}, {1, -1, 0}, {0.3, 0.7, 0.9}}));
}

TEST_CASE("answers beyond double's range") {
    for (const double size : {1e10, 1e-10, 1e300, 1e-300, 0x1p-1074}) {
        CAPTURE(size);
        for (const std::int64_t n : {48, 100}) {
            const perm::Csr a = tridiagonal(n, size, size, size);
            const Exact truth = oracle::by_frontier(a);
            perm::Result r = perm::compute(a, with_engine("frontier"));
            check_nonnegative_result(*r.raw(), truth);
            CHECK((std::isinf(r->re) || r->re == 0.0 || std::fabs(r->re) < 1e-307));
        }
        const perm::Csr dense = constant(12, size);
        const Exact truth = oracle::by_frontier(dense);
        for (const char *engine : engines)
            check_result(*perm::compute(dense, with_engine(engine)).raw(), truth);
    }
    const perm::Csr negative = tridiagonal(49, -1e10, 1e10, 1e10);
    perm::Result r = perm::compute(negative, with_engine("frontier"));
    check_result(*r.raw(), oracle::by_frontier(negative));
}

TEST_CASE("nonnegative matrices: a relative error of at most 1e-13") {
    Random random(run::seed(50));
    for (int i = 0; i < run::cases(40); ++i) {
        const perm::Csr a = i % 2 == 0 ? permutation_plus(30, 2, Entries::nonnegative, random.bits())
                                       : banded(60, 3, 3, Entries::nonnegative, random.bits());
        const Exact truth = oracle::by_frontier(a);
        perm::Result r = perm::compute(a, with_engine("frontier"));
        check_nonnegative_result(*r.raw(), truth);
        CHECK(r->rel_error_bound <= 1e-12); // rigorous, and yet worth having
    }
}

TEST_CASE("the default tolerance is met by auto, and said to be") {
    Random random(run::seed(51));
    for (int i = 0; i < run::cases(10); ++i) {
        const perm::Csr a = erdos_renyi(14, 0.5, Entries::nonnegative, random.bits());
        perm::Result r = perm::compute(a);
        check_result(*r.raw(), oracle::by_frontier(a));
        CHECK(r->tolerance_met == (r->rel_error_bound <= 1e-9 ? 1 : 0));
        CHECK(r->tolerance_met == 1);

        perm_opts opts = PERM_OPTS_INIT;
        opts.tolerance = 1e-300;
        perm::Result strict = perm::compute(a, opts);
        CHECK(strict->tolerance_met == (strict->rel_error_bound <= 1e-300 ? 1 : 0));
    }
}

TEST_CASE("signed full doubles: where a grid leaves no digits, row sums are on two") {
    const perm::Csr a = erdos_renyi(24, 0.8, Entries::real, run::seed(52));
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = "cpu";
    opts.precision = "double";
    perm::Result r = perm::compute(a, opts);
    CHECK(r->tolerance_met == 1);
    CHECK(std::string(r->engine) == "tree");
    opts.engine = "ryser";
    perm::Result other = perm::compute(a, opts);
    CHECK(other->tolerance_met == 1);
    CHECK(std::fabs(r->re - other->re) <= (r->rel_error_bound + other->rel_error_bound) * std::fabs(r->re));
}

TEST_CASE("exact means exact: sums that round to 2^53, entries that scaling loses") {
    const double edge = 0x1p53;
    for (const char *engine : {"auto", "ryser", "frontier"}) {
        CAPTURE(engine);
        for (const Dense &rows :
             {Dense{{edge, 1}, {1, 1}}, Dense{{edge, -1}, {-1, 1}}, Dense{{3, 0}, {0, 3002399751580331}},
              Dense{{edge, 1, 0}, {1, 1, 1}, {0, 1, 1}}, Dense{{edge - 1, 1}, {1, 1}},
              Dense{{0x1p1000, 0x1p-1000}, {0x1p-1000, 0x1p1000}},
              Dense{{0x1p-1000, 0x1p-1000}, {0x1p-1000, 0x1p-1000}}}) {
            const perm::Csr a = from_dense(rows);
            perm::Result r = perm::compute(a, with_engine(engine));
            check_result(*r.raw(), oracle::by_definition(a));
        }
    }
}

TEST_CASE("exponents beyond any double's, and beyond what is written out in full") {
    const int large = run::sanitized ? 20000 : 1100000;
    for (const auto &[n, exponent] :
         {std::pair{100, 1000}, {100, -1000}, {3000, 1000}, {large, 1000}, {large, -1000}}) {
        perm::Csr a; // diagonal, n copies of 2^exponent
        a.n_rows = a.n_cols = n;
        for (std::int64_t i = 0; i < n; ++i) {
            a.col_idx.push_back(i);
            a.row_ptr.push_back(i + 1);
        }
        a.values.assign(static_cast<std::size_t>(n), std::ldexp(1.0, exponent));
        perm::Result r = perm::compute(a);
        CHECK(r->exact == 1);
        CHECK(r->mantissa_re == 0.5);
        CHECK(r->exp2 == std::int64_t{n} * exponent + 1);
        CHECK(!r.text().empty());
        const double digits = 0.30102999566398120 * n * exponent; // log10 of it
        if (n * std::int64_t{exponent} > 10000000 || exponent < 0)
            CHECK(std::stod(r.text().substr(r.text().find('e') + 1)) == doctest::Approx(std::floor(digits)));
        else
            CHECK(static_cast<double>(r.text().size()) == doctest::Approx(std::floor(digits) + 1));
    }
}
