// Every engine against exact arithmetic, and so against every other, on thousands of random matrices.
#include "tests/support/check.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

using namespace perm::families;
using oracle::Exact;

namespace {

struct Tally {
    int matrices = 0, nonzero = 0;
    int asked = 0, informative = 0; // of nonzero permanents, by engines; informative: with bounds below 1
};

// What can run on either runs on a CPU here: see test_gpu.cpp.
perm_opts on_cpu(const char *engine) {
    perm_opts opts = with_engine(engine);
    opts.device = "cpu";
    return opts;
}

// Those of the library's table that run on a CPU, and what chooses among them.
const std::vector<std::string> &engines() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> names{"auto"};
        const auto info = nlohmann::json::parse(perm::info(PERM_FORMAT_JSON));
        for (const auto &engine : info.at("engines")) {
            const auto name = engine.get<std::string>();
            try {
                perm::compute(from_dense({{1, 1}, {1, 1}}), on_cpu(name.c_str()));
                names.push_back(name);
            } catch (const perm::Error &error) {
                // It runs on a GPU, or takes what has a structure alone (tests/lib/structure).
                CHECK((error.status() == PERM_BAD_OPTION || error.status() == PERM_UNSUPPORTED));
            }
        }
        REQUIRE(names.size() >= 4);
        return names;
    }();
    return all;
}

// Runs one engine on `a` and books what came out. What it cannot do at all it may refuse.
void try_engine(const std::string &engine, const perm::Csr &a, const Exact &truth, Tally &tally) {
    CAPTURE(engine);
    std::optional<perm::Result> result;
    try {
        result = perm::compute(a, on_cpu(engine.c_str()));
    } catch (const perm::Error &error) {
        CHECK(error.status() == PERM_UNSUPPORTED);
        return;
    }
    perm::Result &r = *result;
    check_result(*r.raw(), truth);
    if (truth != 0) ++tally.asked;
    if (truth != 0 && informative(*r.raw())) ++tally.informative;

    const bool nonnegative = std::ranges::all_of(a.values, [](double x) { return x >= 0; });
    const bool small_integers =
        a.n_rows <= 9 && std::ranges::all_of(a.values, [](double x) { return x == std::rint(x); });
    if (engine == "frontier") {
        if (nonnegative) check_nonnegative_result(*r.raw(), truth);
        if (small_integers) CHECK(r->exact == 1);
    }
}

} // namespace

TEST_CASE("all engines give the exact permanent of small random matrices") {
    Random random(run::seed(10));
    Tally tally;
    for (int i = 0; i < run::cases(2000); ++i) {
        const perm::Csr a = random_matrix(random.integer(0, 9), random);
        CAPTURE(describe(a));
        const Exact truth = oracle::by_frontier(a);
        ++tally.matrices;
        if (truth != 0) ++tally.nonzero;
        for (const std::string &engine : engines()) try_engine(engine, a, truth, tally);
    }
    CHECK(tally.nonzero > tally.matrices / 2);
    CHECK(tally.asked >= 4 * tally.nonzero);
    CHECK(tally.informative > tally.asked * 9 / 10);
}

TEST_CASE("all engines give the exact permanent of larger random matrices") {
    Random random(run::seed(11));
    Tally tally;
    for (int i = 0; i < run::cases(60); ++i) {
        const perm::Csr a = random_matrix(random.integer(10, 15), random);
        CAPTURE(describe(a));
        const Exact truth = oracle::by_frontier(a);
        ++tally.matrices;
        if (truth != 0) ++tally.nonzero;
        for (const std::string &engine : engines()) try_engine(engine, a, truth, tally);
    }
    CHECK(tally.nonzero > tally.matrices / 2);
}

TEST_CASE("other seeds of the order search give the same permanent") {
    Random random(run::seed(12));
    for (int i = 0; i < run::cases(10); ++i) {
        const perm::Csr a = permutation_plus(20, 2, Entries::real, random.bits());
        const Exact truth = oracle::by_frontier(a);
        for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, random.bits()}) {
            for (const char *engine : {"frontier", "tree"}) {
                perm_opts opts = on_cpu(engine);
                opts.seed = seed;
                check_result(*perm::compute(a, opts).raw(), truth);
            }
        }
    }
}

TEST_CASE("tree, ryser and frontier agree where the definition is out of reach") {
    Random random(run::seed(13));
    int compared = 0;
    for (int i = 0; i < run::cases(8); ++i) {
        const auto entries = static_cast<Entries>(i % 5);
        const perm::Csr a = i % 2 == 0 ? erdos_renyi(random.integer(18, 22), random.uniform(0.15, 0.4),
                                                     entries, random.bits())
                                       : permutation_plus(random.integer(18, 24), 2, entries, random.bits());
        CAPTURE(describe(a));
        perm::Result tree = perm::compute(a, on_cpu("tree"));
        if (std::string(tree->engine) == "none") continue;
        CHECK(std::string(tree->engine) == "tree");
        CHECK(std::string(tree->device) == "cpu");
        CHECK(tree->subsets == std::exp2(static_cast<double>(a.n_rows - 1)));
        for (const char *engine : {"ryser", "frontier"}) {
            CAPTURE(engine);
            perm::Result other = perm::compute(a, on_cpu(engine));
            if (!std::isfinite(tree->abs_error_bound) || !std::isfinite(other->abs_error_bound)) continue;
            CHECK(abs(value_of(*tree.raw()) - value_of(*other.raw())) <=
                  Exact(tree->abs_error_bound) + Exact(other->abs_error_bound));
            ++compared;
        }
    }
    CHECK(compared > run::enough(8));
}

TEST_CASE("tree: known permanents that fall apart, up to its last order") {
    for (const std::int64_t n : {1, 2, 3, 30, 44, 64}) {
        CAPTURE(n);
        const perm::Csr a = tridiagonal(n, 1, 2, 3);
        check_result(*perm::compute(a, on_cpu("tree")).raw(), oracle::by_frontier(a));
    }
    for (const perm::Csr &a : {mesh2d(6, 8, Entries::nonnegative, 7), hypercube(5), aztec_diamond(4)})
        check_result(*perm::compute(a, on_cpu("tree")).raw(), oracle::by_frontier(a));
    try {
        (void)perm::compute(tridiagonal(65, 1, 2, 3), on_cpu("tree"));
        FAIL("64 rows are the most");
    } catch (const perm::Error &error) {
        CHECK(error.status() == PERM_UNSUPPORTED);
    }
}
