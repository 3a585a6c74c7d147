// Every engine against exact arithmetic, and so against every other, on thousands of random matrices.
#include "tests/support/check.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace perm::families;
using oracle::Exact;

namespace {

struct Tally {
    int matrices = 0, nonzero = 0, informative = 0; // informative: bounds below 1 of nonzero permanents
};

// Runs one engine on `a` and books what came out.
void try_engine(const char *engine, const perm::Csr &a, const Exact &truth, Tally &tally) {
    CAPTURE(engine);
    perm::Result r = perm::compute(a, with_engine(engine));
    check_result(*r.raw(), truth);
    if (truth != 0 && informative(*r.raw())) ++tally.informative;

    const bool nonnegative = std::ranges::all_of(a.values, [](double x) { return x >= 0; });
    const bool small_integers =
        a.n_rows <= 9 && std::ranges::all_of(a.values, [](double x) { return x == std::rint(x); });
    if (std::string(engine) == "frontier") {
        if (nonnegative) check_nonnegative_result(*r.raw(), truth);
        if (small_integers) CHECK(r->exact == 1);
    }
}

} // namespace

TEST_CASE("all engines give the exact permanent of small random matrices") {
    Random random(run::seed(10));
    Tally tally;
    for (int i = 0; i < 2000 * run::multiplier(); ++i) {
        const perm::Csr a = random_matrix(random.integer(0, 9), random);
        CAPTURE(describe(a));
        const Exact truth = oracle::by_frontier(a);
        ++tally.matrices;
        if (truth != 0) ++tally.nonzero;
        for (const char *engine : {"auto", "ryser", "frontier"}) try_engine(engine, a, truth, tally);
    }
    CHECK(tally.nonzero > tally.matrices / 2);
    CHECK(tally.informative > 3 * tally.nonzero * 9 / 10);
}

TEST_CASE("all engines give the exact permanent of larger random matrices") {
    Random random(run::seed(11));
    Tally tally;
    for (int i = 0; i < 60 * run::multiplier(); ++i) {
        const perm::Csr a = random_matrix(random.integer(10, 15), random);
        CAPTURE(describe(a));
        const Exact truth = oracle::by_frontier(a);
        ++tally.matrices;
        if (truth != 0) ++tally.nonzero;
        for (const char *engine : {"auto", "ryser", "frontier"}) try_engine(engine, a, truth, tally);
    }
    CHECK(tally.nonzero > tally.matrices / 2);
}

TEST_CASE("other seeds of the order search give the same permanent") {
    Random random(run::seed(12));
    for (int i = 0; i < 10 * run::multiplier(); ++i) {
        const perm::Csr a = permutation_plus(20, 2, Entries::real, random.bits());
        const Exact truth = oracle::by_frontier(a);
        for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, random.bits()}) {
            perm_opts opts = with_engine("frontier");
            opts.seed = seed;
            check_result(*perm::compute(a, opts).raw(), truth);
        }
    }
}
