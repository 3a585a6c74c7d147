// Matrices whose engines divide their work: each a moment's work, for the tests of shards and checkpoints.
#pragma once

#include "bench/families.hpp"
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/gaussian_calls.hpp"

#include <perm.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct LargeCase {
    std::string name;
    perm_opts opts = PERM_OPTS_INIT;
    perm_csr csr = PERM_CSR_INIT;
    std::shared_ptr<const void> owner; // of what csr refers to
};

inline LargeCase large_case(perm::Csr a) {
    LargeCase c;
    const auto owner = std::make_shared<const perm::Csr>(std::move(a));
    c.csr = owner->view();
    c.owner = owner;
    return c;
}
inline LargeCase large_case(const oracle::GaussianMatrix &a, As as) {
    LargeCase c;
    const auto owner = std::make_shared<const Given>(given(a, as));
    c.csr = owner->csr;
    c.owner = owner;
    return c;
}

// The smallest of a family (of `order` or more) that is planned in at least so many shards.
template <class Make>
LargeCase grown(const perm_opts &opts, std::int64_t shards, std::int64_t order, const Make &make) {
    for (;; ++order) {
        LargeCase c = make(order);
        c.opts = opts;
        c.opts.cache_dir = "";
        c.name = std::string(opts.engine ? opts.engine : "auto") + " " +
                 (opts.precision ? opts.precision : "auto") + " n = " + std::to_string(order);
        if (perm::Task::plan(perm::Plan(c.csr, c.opts), c.csr.values).shards() >= shards || order >= 60)
            return c;
    }
}

inline oracle::GaussianMatrix full_matrix(std::int64_t n, Complexes entries, perm::families::Random &random) {
    const auto order = static_cast<std::size_t>(n);
    oracle::GaussianMatrix a(order, std::vector<oracle::Gaussian>(order));
    for (auto &row : a)
        for (auto &x : row) do
                x = random_complex(entries, random);
            while (libperm::is_zero(x));
    return a;
}

// One of each engine and kind of numbers; each planned in so many shards or more.
inline std::vector<LargeCase> large_cases(std::int64_t shards, std::uint64_t seed) {
    using namespace perm::families;
    const auto dense = [seed](Entries entries) {
        return [=](std::int64_t n) { return large_case(erdos_renyi(n, 1, entries, seed)); };
    };
    const auto sparse = [seed](Entries entries) {
        return [=](std::int64_t n) { return large_case(erdos_renyi(n, 0.5, entries, seed)); };
    };
    const auto wide = [seed](Complexes entries, As as) {
        return [=](std::int64_t n) {
            Random random(seed);
            return large_case(full_matrix(n, entries, random), as);
        };
    };
    std::vector<LargeCase> cases;
    for (const char *precision : {"double", "kahan", "dq", "dd", "exact", "mpfr:100"})
        cases.push_back(grown(in_precision("ryser", precision), shards, 12, dense(Entries::real)));
    // The tree's pieces are 2^24 subsets.
    const std::int64_t some = std::min<std::int64_t>(shards, 2);
    cases.push_back(grown(in_precision("tree", "double"), shards, 14, sparse(Entries::real)));
    cases.push_back(grown(in_precision("tree", "dd"), some, 14, sparse(Entries::real)));
    cases.push_back(
        grown(in_precision("ryser", "double"), shards, 12, wide(Complexes::complex, As::complex)));
    cases.push_back(grown(in_precision("tree", "double"), some, 20, wide(Complexes::complex, As::complex)));
    cases.push_back(
        grown(in_precision("ryser", "mpfr:100"), shards, 10, wide(Complexes::complex, As::complex)));
    cases.push_back(grown(in_precision("ryser", "exact"), shards, 8, wide(Complexes::rationals, As::text)));
    cases.push_back(grown(in_precision("auto", "auto"), shards, 14, dense(Entries::integers)));
    const auto sliced = [](const char *precision, std::int64_t bytes) {
        perm_opts opts = in_precision("frontier", precision);
        opts.memory_limit_bytes = bytes;
        return opts;
    };
    cases.push_back(grown(sliced("double", 1 << 20), shards, 17, dense(Entries::real)));
    cases.push_back(grown(sliced("dd", 3 << 20), shards, 17, dense(Entries::real)));
    cases.push_back(grown(sliced("exact", 4 << 20), shards, 17, dense(Entries::counts)));
    cases.push_back(grown(sliced("mpfr:100", 4 << 20), shards, 14, dense(Entries::real)));
    return cases;
}
