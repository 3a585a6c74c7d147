// Batches of one pattern on a GPU: the bits of the CPU, whatever numbers it takes, and none computed
// elsewhere.
#include "tests/support/batches.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/check.hpp"
#include "tests/support/on_gpu.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace perm::families;

namespace {

void execute(const perm::Csr &a, const char *device, const std::vector<double> &values, Results &results) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = device;
    const PlanOf plan = plan_of(a, opts);
    REQUIRE(perm_plan_execute_batch(plan.get(), values.data(), static_cast<std::int64_t>(a.col_idx.size()),
                                    static_cast<std::int64_t>(results.all.size()),
                                    results.all.data()) == PERM_OK);
}

} // namespace

TEST_CASE("GPU: batches have the bits of the CPU, those in twice the precision too") {
    if (!gpu()) return;
    constexpr std::int64_t count = 2000;
    Random random(run::seed(0x677062));
    for (const std::int64_t n : {6, 12, 16})
        for (const Entries entries : {Entries::nonnegative, Entries::real}) {
            CAPTURE(n);
            const perm::Csr a = erdos_renyi(n, 0.5, entries, random.bits());
            std::vector<double> values;
            for (std::int64_t k = 0; k < count; ++k) {
                const std::vector<double> some = random_values(a, entries, random);
                values.insert(values.end(), some.begin(), some.end());
            }
            Results here(count), there(count);
            execute(a, "cpu", values, here);
            execute(a, "gpu", values, there);
            for (std::int64_t k = 0; k < count; ++k) {
                CAPTURE(k);
                check_same_bits(here[k], there[k]);
                CHECK(std::string(there[k].device) == "gpu");
            }
        }
}

TEST_CASE("GPU: full matrices of few lines are summed at once, with the bits of the CPU") {
    if (!gpu()) return;
    constexpr std::int64_t count = 50;
    Random random(run::seed(0x677063));
    for (const std::int64_t n : {4, 12, 20}) {
        CAPTURE(n);
        const perm::Csr a = dense_block(n, Entries::real, random);
        std::vector<double> values;
        for (std::int64_t k = 0; k < count; ++k) {
            const std::vector<double> some = random_values(a, Entries::real, random);
            values.insert(values.end(), some.begin(), some.end());
        }
        Results here(count), there(count);
        execute(a, "cpu", values, here);
        execute(a, "gpu", values, there);
        for (std::int64_t k = 0; k < count; ++k) check_same_bits(here[k], there[k]);
    }
}
