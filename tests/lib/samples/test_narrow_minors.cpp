// Sub-permanents along the frontier against those by sums over signs: bands, full matrices, what has no
// matching, rows that one column alone has.
#include "bench/families.hpp"
#include "lib/run/memory_budget.hpp"
#include "lib/samples/boson/narrow_minors.hpp"
#include "tests/support/polled.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <perm.h>

#include <cmath>
#include <cstdlib>
#include <vector>

using namespace libperm;
using perm::families::Random;

namespace {

using Value = NarrowMinors::Value;

struct Experiment { // columns - 1 rows
    std::int64_t columns;
    std::vector<Value> dense; // row by row
    NarrowMatrix sparse;

    Experiment(std::int64_t n, std::int64_t band, std::int64_t filled, Random &random)
        : columns(n), dense(static_cast<std::size_t>(n * (n - 1))) {
        for (std::int64_t j = 0; j < n; ++j) {
            for (std::int64_t i = 0; i + 1 < n; ++i) {
                const bool last_chance = j == std::min(n - 1, i + band); // each row has an entry
                if (std::abs(i - j) > band || (!last_chance && random.integer(0, 99) >= filled)) continue;
                const Value x(static_cast<double>(random.integer(-1000, 1000)) / 512,
                              static_cast<double>(random.integer(-1000, 1000)) / 512);
                dense[static_cast<std::size_t>(i * n + j)] = x;
                sparse.rows.push_back(static_cast<std::uint8_t>(i));
                sparse.entries.push_back(x);
            }
            sparse.ends.push_back(sparse.rows.size());
        }
    }
    std::vector<Value> summed(std::vector<double> &bounds) const {
        std::vector<Value> minors(static_cast<std::size_t>(columns));
        bounds.resize(minors.size());
        perm_dense a = PERM_DENSE_INIT;
        a.n_rows = columns - 1;
        a.n_cols = columns;
        a.values = dense.data();
        a.value_type = PERM_VALUE_C128;
        REQUIRE(perm_sub_permanents(&a, nullptr, minors.data(), bounds.data()) == PERM_OK);
        return minors;
    }
};

} // namespace

TEST_CASE("minors along the frontier are those of sums over signs") {
    Random random(run::seed(2461));
    MemoryBudget budget(std::int64_t{1} << 30);
    NarrowMinors narrow(budget); // used again and again
    std::int64_t compared = 0, wide = 0;
    for (int round = 0; round < run::cases(300); ++round) {
        const std::int64_t n = random.integer(2, 16), band = random.integer(1, 15);
        const Experiment e(n, band, round % 3 == 0 ? 100 : random.integer(20, 90), random);
        std::vector<double> bounds;
        const std::vector<Value> expected = e.summed(bounds);
        std::vector<Value> minors(expected.size());
        narrow.look(e.sparse);
        narrow.run(minors);
        for (std::size_t k = 0; k < minors.size(); ++k) {
            CAPTURE(n);
            CAPTURE(band);
            CAPTURE(k);
            CHECK(std::abs(minors[k] - expected[k]) <= bounds[k] + 1e-13 * std::abs(expected[k]) + 1e-12);
            compared += expected[k] != 0.0;
        }
        wide += narrow.states() > 1000;
    }
    CHECK(compared > run::enough(500));
    CHECK(wide > run::enough(5));
}

TEST_CASE("what is stopped on its way is stopped") {
    Random random(run::seed(2462));
    MemoryBudget budget(std::int64_t{1} << 30), none(std::int64_t{1} << 4);
    const Experiment e(23, 23, 100, random); // 64 MB of numbers
    std::vector<Value> minors(23);
    NarrowMinors narrow(budget), poor(none);
    narrow.look(e.sparse);
    {
        const PolledBy stop([] { throw 1; });
        CHECK_THROWS(narrow.run(minors));
    }
    CHECK(narrow.multiplications() > 1e6);
    poor.look(e.sparse);
    CHECK_THROWS(poor.run(minors));
}
