// The frontier on a device with numbers that are not doubles: its kernels played on the host, and on a GPU
// where there is one. The same bits as on the CPU; of residues the same residues.
#include "jit/compile/nvrtc.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/kernel/frontier.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/run/gpu_device.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/nvrtc_target.hpp"
#include "tests/support/ptxas.hpp"
#include "tests/support/run.hpp"
#include "tests/support/wide_cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

using namespace libperm;
using namespace wide;

namespace {

std::uint64_t test_seed() { return run::seed(0x67707577); }

// The host's device, and a GPU if there is one.
class Devices {
  public:
    Devices() {
        queues_.push_back(std::make_unique<HostQueue>());
        if (const GpuChoice gpu = first_gpu(); gpu.gpu)
            queues_.push_back(std::make_unique<GpuQueue>(gpu.gpu, CacheSettings{}));
    }
    ~Devices() { CHECK(dynamic_cast<HostQueue &>(*queues_.front()).is_whole()); }
    Devices(const Devices &) = delete;
    Devices &operator=(const Devices &) = delete;

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

void check_same(const EngineResult &on_device, const Outcome &here) {
    const Outcome there = outcome_of(on_device);
    REQUIRE(there.wide);
    CHECK(*there.wide == *here.wide);
    CHECK(there.value.mantissa == here.value.mantissa);
    CHECK(there.value.exp2 == here.value.exp2);
    CHECK(there.error.mantissa == here.error.mantissa);
    CHECK(there.error.exp2 == here.error.exp2);
    CHECK(there.rel_error_bound == here.rel_error_bound);
    CHECK(there.counts.states == here.counts.states);
    CHECK(there.counts.peak_states == here.counts.peak_states);
    CHECK(there.counts.operations == here.counts.operations);
}

bool compare(Devices &devices, const WideEntries &entries, const FrontierProgram &program, FrontierForm form,
             double room = sparse_device_room) {
    const Outcome here = run_wide(entries, program, form);
    return devices.on_each([&](DeviceQueue &queue) {
        Budgets b;
        const FrontierRun run{entries, program, b.memory, 1};
        check_same(form == FrontierForm::sparse ? run_sparse_frontier_on(queue, run, room)
                                                : run_dense_frontier_on(queue, run, {}),
                   here);
    });
}

bool compare_residues(Devices &devices, const Residues &residues, const FrontierProgram &program,
                      FrontierForm form, double room = sparse_device_room) {
    const std::vector<std::uint64_t> here = run_residues(residues, program, form);
    return devices.on_each([&](DeviceQueue &queue) {
        Budgets b;
        const FrontierRun run{residues, program, b.memory, 1};
        const EngineResult there = form == FrontierForm::sparse ? run_sparse_frontier_on(queue, run, room)
                                                                : run_dense_frontier_on(queue, run, {});
        CHECK(here == std::get<ResidueVector>(there.value));
        CHECK(there.counts.states > 0);
    });
}

struct Numbers {
    Entries entries;
    Arithmetic arithmetic;
};
constexpr Numbers all_numbers[] = {{Entries::complex, Arithmetic::complex},
                                   {Entries::far_apart, Arithmetic::complex},
                                   {Entries::thirds, Arithmetic::dd},
                                   {Entries::far_signed, Arithmetic::dd},
                                   {Entries::cancelling, Arithmetic::dd},
                                   {Entries::imaginary, Arithmetic::complex_dd},
                                   {Entries::far_apart, Arithmetic::complex_dd},
                                   {Entries::complex, Arithmetic::complex_dd}};

} // namespace

TEST_CASE("wide numbers have the same bits on a device: sparse, with and without counters") {
    Devices devices;
    Random random(test_seed());
    int compared = 0;
    for (int trial = 0; trial < run::cases(6); ++trial)
        for (const auto &[kind, arithmetic] : all_numbers) {
            CAPTURE(trial);
            CAPTURE(static_cast<int>(kind));
            const Case c = make_case(random.integer(1, 13), random.uniform(0.1, 0.8), kind, trial % 2,
                                     trial % 3 ? Order::searched : Order::shuffled, random);
            const WideEntries entries = wide_entries(c.block, arithmetic, trial % 4 < 3);
            if (!compare(devices, entries, c.program, FrontierForm::sparse,
                         trial % 3 == 0 ? 0 : sparse_device_room))
                return;
            ++compared;
        }
    CHECK(compared >= run::enough(48));
}

TEST_CASE("wide numbers have the same bits on a device: dense") {
    Devices devices;
    Random random(test_seed() + 1);
    int compared = 0, high = 0;
    for (int trial = 0; trial < run::cases(2); ++trial)
        for (const auto &[kind, arithmetic] : all_numbers) {
            CAPTURE(trial);
            CAPTURE(static_cast<int>(kind));
            const Case c = make_case(trial == 0 ? 15 : random.integer(1, 12), trial == 0 ? 0.5 : 0.3, kind,
                                     false, Order::searched, random);
            high += c.program.slots > 12;
            if (!compare(devices, wide_entries(c.block, arithmetic), c.program, FrontierForm::dense)) return;
            ++compared;
        }
    CHECK(compared >= run::enough(16));
    CHECK(high >= run::enough(4));
}

TEST_CASE("residues on a device: several primes just below 2^47, small ones, entries of any size") {
    Devices devices;
    Random random(test_seed() + 2);
    int compared = 0;
    for (int trial = 0; trial < run::cases(16); ++trial) {
        CAPTURE(trial);
        const bool dense = trial % 2;
        Case c = make_case(random.integer(1, 13), random.uniform(0.2, 0.7),
                           trial % 3 ? Entries::real : Entries::nonnegative, !dense && trial % 4 == 0,
                           trial % 8 < 4 ? Order::searched : Order::shuffled, random);
        make_integer(c, trial % 3 == 0 ? 0 : 70);
        std::vector<std::uint64_t> primes = primes_below(modular_bits, at(1 + trial % 3));
        primes.push_back(trial % 2 ? 1000003 : 65537);
        const Residues residues = residues_of(c.block, primes);
        const oracle::Gaussian truth = c.permanent();
        const auto here = run_residues(residues, c.program, FrontierForm::sparse);
        for (std::size_t k = 0; k < primes.size(); ++k) CHECK(here[k] == residue(truth.re, primes[k]));
        if (!compare_residues(devices, residues, c.program,
                              dense ? FrontierForm::dense : FrontierForm::sparse,
                              trial % 4 == 0 ? 0 : sparse_device_room))
            return;
        ++compared;
    }
    CHECK(compared >= run::enough(16));
}

TEST_CASE("residues on a device: rows with many entries, all near p / 2") {
    Devices devices;
    constexpr std::int32_t n = 27;
    ExactBlock block;
    block.pattern.rows = block.pattern.cols = n;
    FrontierOrder order;
    for (std::int32_t i = 0; i < n; ++i) { // an arrow: the first row opens all columns
        for (std::int32_t j = 0; j < n; ++j)
            if (i == 0 || i == j || j == 0) {
                block.pattern.col.push_back(j);
                block.values.push_back({(i + 2 * j) % 3, 0});
            }
        block.pattern.row_ptr.push_back(std::ssize(block.pattern.col));
        order.rows.insert(order.rows.begin(), i); // the full row is the last one, then the first
    }
    Residues residues = residues_of(block, primes_below(modular_bits, 2));
    for (std::size_t k = 0; k < 2; ++k)
        for (std::uint64_t &x : residues.values[k]) x += residues.primes[k] / 2;
    for (int turn = 0; turn < 2; ++turn) {
        const FrontierProgram program = build_frontier_program(frontier_sides(block.pattern, {})[0], order);
        CHECK(program.slots == n);
        if (!compare_residues(devices, residues, program, FrontierForm::dense)) return;
        std::reverse(order.rows.begin(), order.rows.end());
    }
}

TEST_CASE("a device with less memory than wide numbers and residues need is given slices") {
    Random random(test_seed() + 4);
    for (const Arithmetic arithmetic : {Arithmetic::complex, Arithmetic::modular}) {
        Case c = make_case(16, 0.5, Entries::complex, false, Order::searched, random);
        Budgets b;
        const double needed = dense_device_bytes(c.program, arithmetic);
        HostQueue tight(static_cast<std::int64_t>(needed) - 1000);
        try {
            if (arithmetic == Arithmetic::complex) {
                const WideEntries entries = wide_entries(c.block, arithmetic);
                const Outcome whole = run_wide(entries, c.program, FrontierForm::dense);
                const Outcome sliced =
                    outcome_of(run_dense_frontier_on(tight, {entries, c.program, b.memory, 1}, {}));
                CHECK(sliced.counts.slices > 1);
                const mpq_class re = sliced.wide->re - whole.wide->re, im = sliced.wide->im - whole.wide->im,
                                error = exactly(sliced.error) + exactly(whole.error);
                CHECK(re * re + im * im <= error * error);
                CHECK(sliced.rel_error_bound < 1e-9);
            } else {
                make_integer(c, 60);
                const Residues residues = residues_of(c.block, primes_below(modular_bits, 2));
                const EngineResult sliced =
                    run_dense_frontier_on(tight, {residues, c.program, b.memory, 1}, {});
                CHECK(run_residues(residues, c.program, FrontierForm::sparse) ==
                      std::get<ResidueVector>(sliced.value));
                CHECK(sliced.counts.slices > 1);
            }
        } catch (const JitError &e) {
            if (e.failure() == JitFailure::unavailable) return;
            throw;
        }
        CHECK(tight.is_whole());
    }
}

TEST_CASE("NVRTC compiles the kernels for all numbers without a spilled register") {
    const std::optional<std::string> target = nvrtc_target();
    if (!target) return;
    for (const StateNumbers &numbers :
         {StateNumbers(true), StateNumbers(false), StateNumbers(Arithmetic::complex),
          StateNumbers(Arithmetic::dd, true), StateNumbers(Arithmetic::dd),
          StateNumbers(Arithmetic::complex_dd), StateNumbers(Arithmetic::modular)}) {
        CAPTURE(name_of(numbers));
        const KernelRecipe sparse = sparse_frontier_kernels({1, numbers, true});
        for (const PtxasReport &report : read_ptxas(compile(sparse.source(), *target, sparse.flags).log)) {
            CHECK(report.spill_stores == 0);
            CHECK(report.stack == 0);
        }
        for (const int cube : {2, most_cube(numbers)}) {
            CAPTURE(cube);
            const KernelRecipe dense = dense_frontier_kernel(numbers, {2, cube, 2}),
                               longer = dense_frontier_kernel(numbers, {6, cube, 6});
            CHECK_FALSE(compile(longer.source(), *target, longer.flags).image.empty());
            for (const PtxasReport &report : read_ptxas(compile(dense.source(), *target, dense.flags).log))
                CHECK(report.spill_stores == 0);
        }
    }
}
