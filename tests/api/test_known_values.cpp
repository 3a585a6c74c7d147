// Every engine on every matrix whose permanent is known.
#include "bench/families.hpp"
#include "tests/support/check.hpp"
#include "tests/support/known.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace perm::families;
using oracle::Exact;

namespace {

bool nonnegative(const perm::Csr &a) {
    return std::ranges::all_of(a.values, [](double x) { return x >= 0; });
}

} // namespace

TEST_CASE("auto gives the known permanents") {
    for (const Known &known : known_permanents()) {
        CAPTURE(known.name);
        check_result(*perm::compute(known.matrix).raw(), Exact(known.permanent));
    }
}

TEST_CASE("frontier gives the known permanents") {
    for (const Known &known : known_permanents()) {
        CAPTURE(known.name);
        perm::Result r = perm::compute(known.matrix, with_engine("frontier"));
        check_result(*r.raw(), Exact(known.permanent));
        if (nonnegative(known.matrix)) check_nonnegative_result(*r.raw(), Exact(known.permanent));
        if (known.matrix.n_rows > 1) CHECK(std::string(r->engine) == "frontier");
    }
}

TEST_CASE("ryser gives the known permanents") {
    const std::int64_t largest = run::multiplier() < 10 ? 20 : 28;
    for (const Known &known : known_permanents()) {
        if (known.matrix.n_rows > largest) continue;
        CAPTURE(known.name);
        perm::Result r = perm::compute(known.matrix, with_engine("ryser"));
        check_result(*r.raw(), Exact(known.permanent));
        if (known.matrix.n_rows > 1) CHECK(std::string(r->engine) == "ryser");
    }
}

TEST_CASE("small integer permanents come out exact, with every digit") {
    for (const Known &known : known_permanents()) {
        if (known.matrix.n_rows > 9) continue;
        CAPTURE(known.name);
        perm::Result r = perm::compute(known.matrix, with_engine("frontier"));
        CHECK(r->exact == 1);
        CHECK(r.text() == known.permanent);
    }
}

TEST_CASE("bare structure: the answer is exact and immediate, whatever the size") {
    const std::int64_t n = 600;
    SUBCASE("a diagonal matrix") {
        perm::Result r = perm::compute(tridiagonal(n, 2, 0, 0));
        check_result(*r.raw(), Exact(mpz_class(1) << static_cast<mp_bitcnt_t>(n)));
        CHECK(r->exact == 1);
    }
    SUBCASE("an empty row") {
        const perm::Csr a = with_row(banded(n, 40, 40, Entries::real, 1), 77, std::vector<double>(n, 0.0));
        perm::Result r = perm::compute(a);
        check_result(*r.raw(), 0);
        CHECK(r->exact == 1);
        CHECK(r.text() == "0");
        CHECK(std::string(r->engine) == "none");
    }
    SUBCASE("no perfect matching: 301 rows share 300 columns") {
        const perm::Csr a =
            build(n, n, [](std::int64_t i, std::int64_t j) { return i > 300 || j < 300 ? 1.0 : 0.0; });
        perm::Result r = perm::compute(a);
        check_result(*r.raw(), 0);
        CHECK(r->exact == 1);
        CHECK(std::string(r->engine) == "none");
    }
    SUBCASE("explicit zeros that leave no perfect matching") {
        perm::Csr a = constant(30, 1);
        for (std::size_t j = 0; j < 30; ++j) a.values[5 * 30 + j] = 0;
        perm::Result r = perm::compute(a);
        check_result(*r.raw(), 0);
        CHECK(r->exact == 1);
    }
}
