// Patterns that would make searches explode: they end, within the memory that was allowed, with an answer or
// with a refusal that says what was found. That a call takes long fails by the tests' time limit alone.
#include "bench/families.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

using namespace perm::families;

namespace {

constexpr std::int64_t memory = std::int64_t{1} << 30;

struct Ended {
    perm_status status;
    std::string text; // of the error
    perm::Result result;
};

Ended computed(const perm::Csr &a, const char *left_out = "", const char *engine = "auto") {
    perm_opts opts = PERM_OPTS_INIT;
    opts.memory_limit_bytes = memory;
    opts.device = "cpu";
    opts.without = left_out;
    opts.engine = engine;
    opts.time_limit_seconds = 1e9;
    Ended ended;
    const perm_csr view = a.view();
    ended.status = perm_compute(&view, &opts, ended.result.raw());
    if (ended.status != PERM_OK) ended.text = perm_last_error();
    return ended;
}

void check_refused(const Ended &ended, std::initializer_list<const char *> words) {
    CAPTURE(ended.text);
    CHECK((ended.status == PERM_REFUSED_MEMORY || ended.status == PERM_REFUSED_TIME ||
           ended.status == PERM_UNSUPPORTED));
    for (const char *word : words) CHECK(ended.text.find(word) != std::string::npos);
}

// A point that all others are joined with, and its loop.
perm::Csr star(std::int64_t points) {
    perm::Csr a;
    a.n_rows = a.n_cols = points;
    for (std::int64_t i = 0; i < points; ++i) {
        if (i > 0) a.col_idx.push_back(0);
        for (std::int64_t j = i; j < (i == 0 ? points : i + 1); ++j) a.col_idx.push_back(j);
        a.row_ptr.push_back(static_cast<std::int64_t>(a.col_idx.size()));
    }
    a.values.assign(a.col_idx.size(), 1);
    return a;
}

// A diagonal and so many more entries in each row, anywhere: one block.
perm::Csr scattered(std::int64_t n, std::int64_t more, Random &random) {
    perm::Csr a;
    a.n_rows = a.n_cols = n;
    for (std::int64_t i = 0; i < n; ++i) {
        std::set<std::int64_t> row{i, (i + 1) % n};
        while (std::ssize(row) < more + 1) row.insert(random.integer(0, n - 1));
        for (const std::int64_t j : row) {
            a.col_idx.push_back(j);
            a.values.push_back(random.uniform(0.5, 1));
        }
        a.row_ptr.push_back(static_cast<std::int64_t>(a.col_idx.size()));
    }
    return a;
}

} // namespace

TEST_CASE("hostile: cliques of 100 and 300") {
    for (const std::int64_t n : {100, 300}) {
        CAPTURE(n);
        const Ended ended = computed(erdos_renyi(n, 1, Entries::real, run::seed(3501)));
        check_refused(ended, {"engine frontier", "needs at the very least", "whatever the order"});
    }
}

TEST_CASE("hostile: a star of many points has a permanent, reduced or not") {
    const std::int64_t points = run::sanitized ? 20000 : 100000;
    const perm::Csr a = star(points);
    for (const char *left_out : {"", "merge,d1,d2,fm"}) {
        CAPTURE(left_out);
        const Ended ended = computed(a, left_out, "frontier");
        CAPTURE(ended.text);
        REQUIRE(ended.status == PERM_OK);
        // The diagonal, or the centre with one other.
        const auto diagonal = static_cast<double>(points);
        CHECK(std::abs(ended.result.value() - diagonal) <= ended.result->rel_error_bound * diagonal);
        CHECK(ended.result->rel_error_bound < 1e-9);
        CHECK(ended.result->peak_bytes <= memory);
    }
}

TEST_CASE("hostile: 10^6 entries in one block" * doctest::skip(run::sanitized)) {
    Random random(run::seed(3502));
    const Ended ended = computed(scattered(100000, 9, random));
    check_refused(ended, {"engine frontier", "2^100 states"});
}

TEST_CASE("hostile: a network with a clique in it, too wide in one place alone") {
    Random random(run::seed(3503));
    perm::Csr a = roads(run::sanitized ? 500 : 2000, Entries::real, random.bits()), b;
    constexpr std::int64_t clique = 120;
    b.n_rows = b.n_cols = a.n_rows;
    for (std::int64_t i = 0; i < a.n_rows; ++i) {
        std::set<std::int64_t> row(a.col_idx.begin() + a.row_ptr[static_cast<std::size_t>(i)],
                                   a.col_idx.begin() + a.row_ptr[static_cast<std::size_t>(i) + 1]);
        for (std::int64_t j = 0; i < clique && j < clique; ++j) row.insert(j);
        for (const std::int64_t j : row) {
            b.col_idx.push_back(j);
            b.values.push_back(random.uniform(0.5, 1));
        }
        b.row_ptr.push_back(static_cast<std::int64_t>(b.col_idx.size()));
    }
    check_refused(computed(b), {"engine frontier", "states"});
}
