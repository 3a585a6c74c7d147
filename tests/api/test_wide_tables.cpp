// Tables of the frontier's dense form that have more columns than a set of 64, or than it is made for.
#include "bench/families.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

using namespace perm::families;

namespace {

using Place = std::pair<std::int64_t, std::int64_t>;

// Two bands of w lines whose columns one row joins, and a column beside them that most rows lack: along any
// order of the rows w + 2 columns wait, few of them used.
void put_bands(std::set<Place> &places, std::int64_t at, std::int64_t w, bool transposed) {
    std::int64_t row = 0;
    const auto put = [&](std::int64_t column) {
        places.insert(transposed ? Place{at + column, at + row} : Place{at + row, at + column});
    };
    const auto left = [w](std::int64_t t) { return 1 + w + t; };
    const auto right = [](std::int64_t t) { return 1 + t; };
    for (std::int64_t t = 0; t < 6; ++t) put(right(t));
    put(0);
    put(left(0));
    for (std::int64_t t = 0; t + 1 < w; ++t) {
        ++row;
        for (std::int64_t k = t; k < std::min(t + 3, w); ++k) put(left(k));
    }
    ++row;
    for (std::int64_t t = 0; t < w; ++t) {
        put(left(t));
        put(right(t));
    }
    for (std::int64_t t = 0; t < w; ++t) {
        ++row;
        for (std::int64_t k = t; k < std::min(t + 3, w); ++k) put(right(k));
        if (t == 0 || t == 3) put(0);
    }
}

// A full core of this order between such bands and transposed ones, with one column twice.
perm::Csr hubs_about_core(std::int64_t core, Random &random) {
    constexpr std::int64_t w = 32, side = 2 * w + 1; // 64 entries in the row that joins
    const std::int64_t n = 2 * side + core, a = side, b = side + core;
    std::set<Place> places;
    put_bands(places, 0, w, false);
    for (std::int64_t i = 0; i < core; ++i)
        for (std::int64_t j = 0; j < core; ++j)
            if (i == j || random.chance(0.9)) places.insert({a + i, a + j});
    for (const Place &p : {Place{a, w}, {a + 1, w}, {a - 1, a}, {a - 1, a + 2}, {a - 2, a + 3}})
        places.insert(p);
    put_bands(places, b, w, true);
    for (const Place &p :
         {Place{b + w, a + 4}, {b + w, a + 5}, {a + 5, n - 1}, {a + 6, n - 1}, {a + 7, n - 2}})
        places.insert(p);
    for (std::int64_t i = 0; i < n; ++i) {
        places.erase({i, a + 9});
        if (places.contains({i, a + 10})) places.insert({i, a + 9});
    }
    return build(n, n, [&](std::int64_t i, std::int64_t j) { return places.contains({i, j}) ? 1.0 : 0.0; });
}

} // namespace

TEST_CASE("what the dense form cannot take whole is no slice of itself") {
    Random random(run::seed(9510));
    int looked_at = 0;
    for (int k = 0; k < 24 * run::multiplier(); ++k) {
        const perm::Csr a = hubs_about_core(25 + k % 3, random);
        perm_opts opts = without("matching,dm,d1,d2,fm,scaling,structure,periodic", "frontier");
        opts.precision = "double";
        opts.memory_limit_bytes = std::int64_t{16} << 30;
        opts.seed = static_cast<std::uint64_t>(k % 2);
        const nlohmann::json plan = explained(perm::Plan(a, opts));
        for (const nlohmann::json &c : plan.at("candidates")) {
            CAPTURE(c.dump());
            if (c.contains("slices")) CHECK(c.at("slices") != 1);
            ++looked_at;
        }
    }
    CHECK(looked_at > 24);
}
