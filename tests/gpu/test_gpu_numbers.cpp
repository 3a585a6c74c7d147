// Every precision of every engine on a GPU, real and complex, against exact permanents: where there is one.
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shared_matrix.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

using oracle::GaussianMatrix;
using perm::families::Random;

namespace {

bool gpu() {
    static const bool is_there = nlohmann::json::parse(perm::info(PERM_FORMAT_JSON)).at("devices").size() > 1;
    if (!is_there) run::skip("no GPU: see perm info");
    return is_there;
}

// What a kernel cannot hold is refused.
bool computed(const perm_csr &a, const perm_opts &opts, perm::Result &r) {
    const perm_status status = perm_compute(&a, &opts, r.raw());
    if (status == PERM_UNSUPPORTED) return false;
    CHECK_MESSAGE(status == PERM_OK, perm_last_error());
    return status == PERM_OK;
}

} // namespace

TEST_CASE("GPU: every engine in every precision") {
    if (!gpu()) return;
    Random random(run::seed(721));
    int compared = 0;
    for (const Complexes entries : {Complexes::reals, Complexes::complex, Complexes::integers})
        for (const std::int64_t n : {5, 14}) {
            const Given g = given(random_matrix(n, entries, random), As::complex);
            perm::Result exact = perm::compute(g.csr, in_precision("frontier", "exact"));
            const oracle::Gaussian truth = number_of(exact.text());
            for (const char *engine : {"tree", "shared", "dense", "purereg", "hybrid", "frontier"})
                for (const char *precision : {"double", "kahan", "dq", "dd", "exact"}) {
                    CAPTURE(std::string(engine));
                    CAPTURE(std::string(precision));
                    CAPTURE(n);
                    perm_opts opts = in_precision(engine, precision, "gpu");
                    opts.without = "all";
                    perm::Result r;
                    if (!computed(g.csr, opts, r)) continue;
                    CHECK(std::string(r->device) == "gpu");
                    check_gaussian(*r.raw(), truth);
                    if (std::string(precision) == "exact") CHECK(r->exact == 1);
                    ++compared;
                }
        }
    CHECK(compared > 150);
}

TEST_CASE("GPU: tree and frontier tell the same of larger matrices") {
    if (!gpu()) return;
    Random random(run::seed(722));
    const GaussianMatrix a = random_matrix(26, Complexes::complex, random);
    const Given g = given(a, As::complex);
    perm::Result frontier = perm::compute(g.csr, in_precision("frontier", "exact", "gpu"));
    perm::Result tree = perm::compute(g.csr, in_precision("tree", "exact", "gpu"));
    CHECK(frontier->exact == 1);
    CHECK(frontier.text() == tree.text());
    const oracle::Gaussian truth = number_of(frontier.text());
    for (const char *engine : {"frontier", "tree", "hybrid"})
        for (const char *precision : {"double", "dd"}) {
            perm::Result r;
            if (computed(g.csr, in_precision(engine, precision, "gpu"), r)) check_gaussian(*r.raw(), truth);
        }
}

TEST_CASE("GPU: counts, exactly") {
    if (!gpu()) return;
    for (const char *name : {"mesh1e1", "mycielskian6", "curtis54"}) {
        perm::Csr counts;
        if (!shared_matrix(name, counts)) continue;
        counts.pattern = true;
        const auto by = [&](const char *engine, const char *device) {
            return perm::compute(counts, in_precision(engine, "exact", device)).text();
        };
        CHECK(by("frontier", "gpu") == by("frontier", "cpu"));
    }
}
