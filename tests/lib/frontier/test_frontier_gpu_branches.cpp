// Joins and single entries on a device: its kernels played on the host, and on a GPU where there is one. The
// same bits as on the CPU; of residues the same residues.
#include "jit/compile/nvrtc.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/kernel/frontier.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/input/matrix.hpp"
#include "lib/run/gpu_device.hpp"
#include "preprocess/branch_decomposition.hpp"
#include "preprocess/branch_search.hpp"
#include "preprocess/scaling.hpp"
#include "tests/support/branch_cases.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/nvrtc_target.hpp"
#include "tests/support/ptxas.hpp"
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
using Share = DeviceRooms::Share;
const DeviceRooms everything{.share = Share::all}, in_pieces{0, 0, Share::all}, // lists and sums that grow
    with_cpu{.share = Share::some};

FrontierProgram random_program(const Pattern &a, int trial, Random &random) {
    BranchProgram branches =
        build_branch_program(a, branch_cases::random_tree(a, all_leaves[trial % 4], random));
    REQUIRE(branches.feasible);
    return std::move(branches.program);
}

// Two lists, each with columns of its own and a few that both have, are joined; the other rows follow.
struct TwoLists {
    ExactBlock block;
    FrontierProgram program;

    TwoLists(Entries kind, Random &random) {
        constexpr std::int32_t n = 18, rows = 4, own = 8, both = 2; // rows and columns of each list
        Pattern &a = block.pattern;
        a.rows = a.cols = n;
        BranchDecomposition tree;
        for (std::int32_t i = 0; i < n; ++i) {
            for (std::int32_t j = 0; j < n; ++j) {
                const bool reached = i >= 2 * rows || j >= 2 * own || j / own == i / rows;
                if (!reached || (j != i * 2 % n && i != j && !random.chance(i < 2 * rows ? 0.9 : 0.2)))
                    continue;
                a.col.push_back(j);
                block.values.push_back(entry(kind, random));
            }
            a.row_ptr.push_back(std::ssize(a.col));
            tree.leaves.push_back({BranchLeaf::Kind::row, i, -1});
        }
        static_assert(2 * own + both == n);
        std::int32_t node = n;
        const auto join = [&](std::int32_t x, std::int32_t y) {
            tree.joins.push_back({x, y});
            return node++;
        };
        std::int32_t half[2];
        for (const std::int32_t side : {0, 1}) {
            half[side] = side * rows;
            for (std::int32_t i = 1; i < rows; ++i) half[side] = join(half[side], side * rows + i);
        }
        std::int32_t all = join(half[0], half[1]);
        for (std::int32_t i = 2 * rows; i < n; ++i) all = join(all, i);
        REQUIRE(is_decomposition(a, tree));
        BranchProgram branches = build_branch_program(a, tree);
        REQUIRE(branches.feasible);
        program = std::move(branches.program);
    }
};

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

// A GPU if there is one, and the host's device.
class Devices {
  public:
    Devices() {
        if (const GpuChoice gpu = first_gpu(); gpu.gpu)
            queues_.push_back(std::make_unique<GpuQueue>(gpu.gpu, CacheSettings{}));
        queues_.push_back(std::make_unique<HostQueue>());
    }
    ~Devices() {
        if (host()) CHECK(host()->is_whole());
    }
    Devices(const Devices &) = delete;
    Devices &operator=(const Devices &) = delete;

    // False if there is neither: a compiler for the host, of whose absence was told, nor a GPU.
    bool on_each(const std::function<void(DeviceQueue &)> &check) {
        try {
            for (const auto &queue : queues_) check(*queue);
        } catch (const JitError &e) {
            if (e.failure() != JitFailure::unavailable) throw;
            queues_.pop_back(); // the host's
        }
        return !queues_.empty();
    }

    HostQueue *host() { return queues_.empty() ? nullptr : dynamic_cast<HostQueue *>(queues_.back().get()); }

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
    const Outcome on_cpu = outcome_of(run_branches({input, program, here.memory, 1}));
    return devices.on_each([&](DeviceQueue &queue) {
        Budgets b;
        const FrontierRun run{input, program, b.memory, 1};
        check_same(outcome_of(run_branches_on(queue, run, rooms)), on_cpu);
    });
}

const DeviceRooms &rooms_of(int trial) {
    return trial % 3 == 0 ? in_pieces : trial % 3 == 1 ? everything : with_cpu;
}

} // namespace

TEST_CASE("branches of doubles have the same bits on a device") {
    Devices devices;
    Random random(test_seed());
    Joined met;
    for (int trial = 0; trial < run::cases(80); ++trial) {
        CAPTURE(trial);
        constexpr Entries kinds[] = {Entries::nonnegative, Entries::real, Entries::far_signed,
                                     Entries::cancelling};
        Case c = make_case(random.integer(1, 12), random.uniform(0.05, 0.6), kinds[trial / 4 % 4], false,
                           Order::shuffled, random);
        const FrontierProgram program = random_program(c.block.pattern, trial, random);
        Block block = doubles_of(c.block);
        (void)scale(block);
        if (!compare(devices, block, program, rooms_of(trial))) return;
        met.count(program);
    }
    CHECK(met.joins > run::enough(60));
    CHECK(met.entries > run::enough(120));
    CHECK(met.columns > run::enough(120));
}

TEST_CASE("branches of complex, dd and complex dd numbers have the same bits on a device") {
    Devices devices;
    Random random(test_seed() + 1);
    int compared = 0;
    for (int trial = 0; trial < run::cases(45); ++trial) {
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
    CHECK(compared > run::enough(70));
}

TEST_CASE("branches have the same residues on a device") {
    Devices devices;
    Random random(test_seed() + 2);
    int compared = 0;
    for (int trial = 0; trial < run::cases(40); ++trial) {
        CAPTURE(trial);
        Case c = make_case(random.integer(1, 11), random.uniform(0.05, 0.6), Entries::real, false,
                           Order::shuffled, random);
        make_integer(c, 40);
        const Residues residues =
            residues_of(c.block, primes_below(modular_bits, 1 + static_cast<std::size_t>(trial % 6)));
        const FrontierProgram program = random_program(c.block.pattern, trial, random);
        const ResidueVector here = run_residues(residues, program, FrontierForm::branches);
        const bool done = devices.on_each([&](DeviceQueue &queue) {
            Budgets b;
            const EngineResult there =
                run_branches_on(queue, {residues, program, b.memory, 1}, rooms_of(trial));
            CHECK(std::get<ResidueVector>(there.value) == here);
        });
        if (!done) return;
        ++compared;
    }
    CHECK(compared > run::enough(30));
}

TEST_CASE("joins of lists with hundreds of states on either side have the same bits on a device") {
    Devices devices;
    int wide_launches = 0;
    if (HostQueue *host = devices.host())
        host->before_launch = [&](const HostLaunch &launch) {
            wide_launches += launch.entry == join_multiply_wide_entry;
        };
    Random random(test_seed() + 4);
    for (int trial = run::sanitized ? 3 : 0; trial < 5; ++trial) { // the last in double-doubles
        CAPTURE(trial);
        const TwoLists two(trial % 2 ? Entries::real : Entries::nonnegative, random);
        if (trial < 4) {
            if (!compare(devices, doubles_of(two.block), two.program, rooms_of(trial))) return;
        } else {
            const WideEntries entries = wide_entries(two.block, Arithmetic::dd, true);
            if (!compare(devices, entries, two.program, rooms_of(trial))) return;
        }
    }
    CHECK((wide_launches > 0 || !devices.host()));
}

TEST_CASE("a device that has no memory left for a join says so") {
    Random random(test_seed() + 3);
    const Case c = make_case(11, 0.6, Entries::nonnegative, false, Order::shuffled, random);
    const FrontierProgram program = random_program(c.block.pattern, 2, random);
    const Block block = doubles_of(c.block);
    HostQueue tight(1 << 14);
    Budgets b;
    try {
        (void)run_branches_on(tight, {block, program, b.memory, 1}, in_pieces);
        FAIL("it has memory");
    } catch (const JitError &e) {
        CHECK((e.failure() == JitFailure::out_of_memory || e.failure() == JitFailure::unavailable));
    }
}

TEST_CASE("NVRTC compiles the kernels of joins for all numbers without a spilled register") {
    const std::optional<std::string> target = nvrtc_target();
    if (!target) return;
    int words = 1;
    for (const StateNumbers &numbers :
         {StateNumbers(true), StateNumbers(false), StateNumbers(Arithmetic::complex),
          StateNumbers(Arithmetic::dd, true), StateNumbers(Arithmetic::dd),
          StateNumbers(Arithmetic::complex_dd), StateNumbers(Arithmetic::modular)}) {
        CAPTURE(name_of(numbers));
        words = 3 - words;
        std::vector<KernelRecipe> recipes{frontier_join_kernels({words, numbers})};
        if (numbers.arithmetic == Arithmetic::real)
            recipes.push_back(sparse_frontier_kernels({words, numbers, false, true}));
        for (const KernelRecipe &recipe : recipes) {
            const std::vector<PtxasReport> reports =
                read_ptxas(compile(recipe.source(), *target, recipe.flags).log);
            if (reports.empty()) { // compiled before: NVRTC has a cache of its own, and says nothing then
                run::skip("NVRTC says nothing of the kernels");
                continue;
            }
            CHECK(reports.size() == recipe.entries.size());
            for (const PtxasReport &report : reports) {
                CAPTURE(report.kernel);
                CHECK(report.spill_stores == 0);
                CHECK(report.stack == 0);
            }
        }
    }
}

TEST_CASE("on a GPU: joins of up to millions of states, whole and in pieces") {
    const GpuChoice gpu = first_gpu();
    if (!gpu.gpu) {
        run::skip(gpu.why_not);
        return;
    }
    double most_states = 0;
    for (const perm::Csr &matrix : {perm::families::divisors(70), perm::families::divisors(100),
                                    perm::families::process(250, perm::families::Entries::real, 3)}) {
        const perm_csr view = matrix.view();
        const InputPattern input = read_pattern(&view);
        Block block{input.pattern, {}};
        for (const double x : read_values(input, view.values).real) block.values.push_back(tracked(x));
        (void)scale(block);
        const auto found = find_branches(block.pattern, {});
        REQUIRE(found);
        const BranchProgram branches = build_branch_program(block.pattern, found->tree);
        REQUIRE(branches.feasible);
        Budgets here;
        const Outcome on_cpu = outcome_of(run_branches({block, branches.program, here.memory, 2}));
        for (const DeviceRooms &rooms : {DeviceRooms{}, DeviceRooms{.sums = 0x1p20}, everything}) {
            GpuQueue queue(gpu.gpu, {});
            Budgets b;
            check_same(outcome_of(run_branches_on(queue, {block, branches.program, b.memory, 2}, rooms)),
                       on_cpu);
        }
        most_states = std::max(most_states, on_cpu.counts.peak_states);
    }
    CHECK(most_states > 1e6);
}
