// Joins and single entries on a device: its kernels played on the host, and on a GPU where there is one. The
// same bits as on the CPU; of residues the same residues.
#include "jit/compile/nvrtc.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/run/gpu_device.hpp"
#include "preprocess/scaling.hpp"
#include "tests/support/branch_cases.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/nvrtc_target.hpp"
#include "tests/support/run.hpp"
#include "tests/support/wide_cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

using namespace libperm;
using namespace wide;
using branch_cases::Leaves;

namespace {

std::uint64_t test_seed() { return run::seed(0x67706272); }

constexpr Leaves all_leaves[] = {Leaves::rows, Leaves::columns, Leaves::entries, Leaves::mixed};
const DeviceRooms everything{.all = true}, in_pieces{0, 0, true}; // lists and sums that grow

FrontierProgram random_program(const Pattern &a, int trial, Random &random) {
    BranchProgram branches =
        build_branch_program(a, branch_cases::random_tree(a, all_leaves[trial % 4], random));
    REQUIRE(branches.feasible);
    return std::move(branches.program);
}

Block doubles_of(const ExactBlock &exact) {
    Block block;
    block.pattern = exact.pattern;
    for (const Gaussian &x : exact.values) block.values.push_back(tracked(x.re.get_d()));
    return block;
}

struct Joined {
    int joins = 0, entries = 0, columns = 0;
    void count(const FrontierProgram &program) {
        for (const FrontierBranch &b : program.branches) joins += b.joined[0] >= 0;
        for (const FrontierStep &s : program.steps)
            ++(!s.terms.empty() && s.terms.front().other_slot >= 0 ? entries : columns);
    }
};

// The host's device, and a GPU if there is one.
class Devices {
  public:
    Devices() {
        queues_.push_back(std::make_unique<HostQueue>());
        if (const GpuChoice gpu = first_gpu(); gpu.gpu)
            queues_.push_back(std::make_unique<GpuQueue>(gpu.gpu, CacheSettings{}));
    }
    ~Devices() { CHECK(host().is_whole()); }
    Devices(const Devices &) = delete;
    Devices &operator=(const Devices &) = delete;
    HostQueue &host() { return dynamic_cast<HostQueue &>(*queues_.front()); }

    // False if there is no compiler for the host: that was said then.
    bool on_each(const std::function<void(DeviceQueue &)> &check) {
        try {
            for (const auto &queue : queues_) check(*queue);
            return true;
        } catch (const JitError &e) {
            if (e.failure() == JitFailure::unavailable) return false;
            throw;
        }
    }

  private:
    std::vector<std::unique_ptr<DeviceQueue>> queues_;
};

void check_same(const Outcome &there, const Outcome &here) {
    REQUIRE(there.wide.has_value() == here.wide.has_value());
    if (here.wide) CHECK(*there.wide == *here.wide);
    CHECK(there.value.mantissa == here.value.mantissa);
    CHECK(there.value.exp2 == here.value.exp2);
    CHECK(there.error.mantissa == here.error.mantissa);
    CHECK(there.error.exp2 == here.error.exp2);
    CHECK(there.rel_error_bound == here.rel_error_bound);
    CHECK(there.exact == here.exact);
    CHECK(there.counts.states == here.counts.states);
    CHECK(there.counts.peak_states == here.counts.peak_states);
    CHECK(there.counts.operations == here.counts.operations);
}

bool compare(Devices &devices, const FrontierInput &input, const FrontierProgram &program,
             const DeviceRooms &rooms) {
    Budgets here;
    const Outcome on_cpu = outcome_of(run_branches({input, program, here.control, here.memory, 1}));
    return devices.on_each([&](DeviceQueue &queue) {
        Budgets b;
        const FrontierRun run{input, program, b.control, b.memory, 1};
        check_same(outcome_of(run_branches_on(queue, run, rooms)), on_cpu);
    });
}

const DeviceRooms &rooms_of(int trial) { return trial % 3 == 0 ? in_pieces : everything; }

} // namespace

TEST_CASE("branches of doubles have the same bits on a device") {
    Devices devices;
    Random random(test_seed());
    Joined met;
    for (int trial = 0; trial < run::cases(160); ++trial) {
        CAPTURE(trial);
        constexpr Entries kinds[] = {Entries::nonnegative, Entries::real, Entries::far_signed,
                                     Entries::cancelling};
        Case c = make_case(random.integer(1, 12), random.uniform(0.05, 0.6), kinds[trial / 4 % 4], false,
                           Order::shuffled, random);
        const FrontierProgram program = random_program(c.block.pattern, trial, random);
        Block block = doubles_of(c.block);
        if (trial % 2 == 0 && c.permanent().re != 0) (void)scale(block);
        if (!compare(devices, block, program, rooms_of(trial))) return;
        met.count(program);
    }
    CHECK(met.joins > run::enough(100));
    CHECK(met.entries > run::enough(200));
    CHECK(met.columns > run::enough(200));
}

TEST_CASE("branches of complex, dd and complex dd numbers have the same bits on a device") {
    Devices devices;
    Random random(test_seed() + 1);
    int compared = 0;
    for (int trial = 0; trial < run::cases(60); ++trial) {
        CAPTURE(trial);
        const auto kind = static_cast<Entries>(trial % static_cast<int>(Entries::all));
        const Case c =
            make_case(random.integer(1, 9), random.uniform(0.05, 0.7), kind, false, Order::shuffled, random);
        const FrontierProgram program = random_program(c.block.pattern, trial, random);
        for (const Arithmetic arithmetic : arithmetics(kind)) {
            CAPTURE(static_cast<int>(arithmetic));
            const WideEntries entries = wide_entries(c.block, arithmetic, true);
            if (!compare(devices, entries, program, rooms_of(trial))) return;
            ++compared;
        }
    }
    CHECK(compared > run::enough(90));
}

TEST_CASE("branches have the same residues on a device") {
    Devices devices;
    Random random(test_seed() + 2);
    int compared = 0;
    for (int trial = 0; trial < run::cases(40); ++trial) {
        CAPTURE(trial);
        Case c = make_case(random.integer(1, 11), random.uniform(0.05, 0.6), Entries::real, false,
                           Order::shuffled, random);
        make_whole(c, 40);
        const Residues residues =
            residues_of(c.block, primes_below(modular_bits, 1 + static_cast<std::size_t>(trial % 6)));
        const FrontierProgram program = random_program(c.block.pattern, trial, random);
        const ResidueVector here = run_residues(residues, program, FrontierForm::branches);
        const bool done = devices.on_each([&](DeviceQueue &queue) {
            Budgets b;
            const EngineResult there =
                run_branches_on(queue, {residues, program, b.control, b.memory, 1}, rooms_of(trial));
            CHECK(std::get<ResidueVector>(there.value) == here);
        });
        if (!done) return;
        ++compared;
    }
    CHECK(compared > run::enough(30));
}
