// Traces of joined ends on a device that the host plays, against those of the processor.
#include "jit/compile/nvrtc.hpp"
#include "jit/kernel/period_walk.hpp"
#include "lib/number/residues.hpp"
#include "lib/periodic/answers/exact_terms.hpp"
#include "lib/periodic/answers/loops_on_device.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/nvrtc_target.hpp"
#include "tests/support/periodic_cells.hpp"
#include "tests/support/ptxas.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

using namespace libperm;
using perm::families::Random;

TEST_CASE("traces on a device are those of the processor") {
    Random random(run::seed(0x6c6f6f70));
    HostQueue queue, another, third;
    const DeviceQueues three([&] { return std::vector<DeviceQueue *>{&queue, &another, &third}; });
    int compared = 0, others = 0;
    for (int trial = 0; trial < run::cases(48); ++trial) {
        PeriodicMatrix a = trial < 3 ? cells::strip(trial + 2)
                                     : cells::any(random, static_cast<cells::Kind>(trial % 4), true);
        a.joined = true;
        CAPTURE(cells::text(a));
        const PeriodicPlan plan = cells::planned(a);
        RunControl control;
        const IntegerEntries entries = integer_entries(plan, no_poll);
        const bool gaussian = !entries.im.empty();
        const std::vector<std::uint64_t> primes = primes_below(47, 2, gaussian);
        const std::int64_t first = 1 + trial % 3, count = 1 + trial % 4;
        const ResidueTerms truth = terms_modulo(plan, entries, primes, first, count, control);
        const Pattern none;
        const Residues residues = residues_of(none, entries.re, entries.im, primes);
        CHECK(traces_on_device(queue, plan, residues, first, count, control) == truth);
        const ResidueTerms found = told_terms(primes.size(), [&](const TellTerms &tell) {
            find_on_devices(three, plan, residues, first, count, control, tell);
        });
        CHECK(found == truth);
        compared += static_cast<int>(count);
        others += truth.front().front() > 1;
    }
    CHECK((queue.is_whole() && another.is_whole() && third.is_whole()));
    CHECK(another.launches() + third.launches() > run::enough(40));
    CHECK(compared > run::enough(60));
    CHECK(others > run::enough(10));
}

TEST_CASE("NVRTC compiles the kernels of walks without a spilled register") {
    const std::optional<std::string> target = nvrtc_target();
    if (!target) return;
    const KernelRecipe kernels = period_walk_kernels();
    for (const PtxasReport &report : read_ptxas(compile(kernels.source(), *target, kernels.flags).log)) {
        CAPTURE(report.kernel);
        CHECK(report.spill_stores == 0);
        CHECK(report.registers <= 64);
    }
}
