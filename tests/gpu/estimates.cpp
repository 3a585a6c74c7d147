// Estimates whose samples a GPU draws, through the C API: the bits of the CPU.
#include "bench/families.hpp"
#include "tests/support/on_gpu.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <perm.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace perm::families;

namespace {

perm_estimated estimate(const perm::Csr &a, const char *device, const char *method, double epsilon) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = device;
    opts.without = "merge,periodic,structure";
    perm_estimate_opts wanted = PERM_ESTIMATE_OPTS_INIT;
    wanted.epsilon = epsilon;
    wanted.seed = 5;
    wanted.method = method;
    perm_estimated found = PERM_ESTIMATED_INIT;
    const perm_csr view = a.view();
    REQUIRE(perm_estimate(&view, &opts, &wanted, &found) == PERM_OK);
    return found;
}

} // namespace

TEST_CASE("GPU: estimates have the bits of the CPU") {
    if (!gpu()) return;
    Random random(run::seed(0x657374));
    for (const std::int64_t n : {40, 60, 130}) {
        CAPTURE(n);
        const double density = n > 100 ? 0.3 : 0.5;
        const perm::Csr a = build(n, n, [&](std::int64_t i, std::int64_t j) {
            return i == j || random.chance(density) ? random.uniform(0.1, 1) : 0;
        });
        for (const char *method : {"nesting", "rejection"})
            for (const char *device : {"gpu", "gpu:all"}) {
                CAPTURE(method);
                const double epsilon = std::string(method) == "nesting" ? 0.03 : 0.2;
                const perm_estimated here = estimate(a, "cpu", method, epsilon),
                                     there = estimate(a, device, method, epsilon);
                CHECK(there.exact == 0);
                CHECK(there.samples == here.samples);
                CHECK(there.accepted == here.accepted);
                CHECK(there.mantissa_re == here.mantissa_re);
                CHECK(there.exp2 == here.exp2);
                CHECK(there.lower_mantissa == here.lower_mantissa);
                CHECK(there.lower_exp2 == here.lower_exp2);
                CHECK(there.upper_mantissa == here.upper_mantissa);
                CHECK(there.upper_exp2 == here.upper_exp2);
            }
    }
}

TEST_CASE("GPU: matchings by rejection are those of the CPU") {
    if (!gpu()) return;
    Random random(run::seed(0x73616d));
    const perm::Csr a = build(60, 60, [&](std::int64_t, std::int64_t) { return random.uniform(0.1, 1); });
    const perm_csr view = a.view();
    constexpr std::int64_t shots = 20000;
    std::vector<std::int64_t> here(60 * shots), there(here.size());
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = "cpu";
    REQUIRE(perm_sample(&view, &opts, shots, 3, here.data()) == PERM_OK);
    opts.device = "gpu";
    REQUIRE(perm_sample(&view, &opts, shots, 3, there.data()) == PERM_OK);
    CHECK(here == there);
}
