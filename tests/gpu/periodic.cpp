// Matrices of equal cells on a GPU: tables, against the processor.
#include "tests/support/on_gpu.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

perm::Periodic plan_of(const std::string &lattice, bool joined, const char *device, std::int64_t memory) {
    const perm::Csr cell = perm::lattice_cell(lattice);
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = device;
    opts.precision = "exact";
    opts.memory_limit_bytes = memory;
    return perm::Periodic(cell.view(), joined, opts);
}

} // namespace

TEST_CASE("GPU: the growth by tables has the bits of the processor") {
    if (!gpu()) return;
    constexpr std::int64_t little = 3 << 20; // the operator does not fit
    for (const bool joined : {false, true})
        for (const char *lattice : {"grid:4x4", "ring:4x4"}) {
            CAPTURE(lattice);
            CAPTURE(joined);
            const perm::Periodic::Growth here = plan_of(lattice, joined, "cpu", little).growth(),
                                         there = plan_of(lattice, joined, "gpu", little).growth(),
                                         written = plan_of(lattice, joined, "cpu", 1 << 30).growth();
            CHECK(here.lower == there.lower);
            CHECK(here.upper == there.upper);
            CHECK(there.lower <= written.upper);
            CHECK(written.lower <= there.upper);
            CHECK(there.upper - there.lower <= 1e-12 * there.upper);
        }
}

TEST_CASE("GPU: terms by tables") {
    if (!gpu()) return;
    constexpr std::int64_t little = 3 << 20;
    for (const char *device : {"cpu", "gpu"}) {
        const perm::Result bar = plan_of("grid:4x4", false, device, little).execute(4);
        CHECK(bar.text() == "5051532105"); // OEIS A028454
        CHECK(std::string(bar->device) == device);
    }
}
