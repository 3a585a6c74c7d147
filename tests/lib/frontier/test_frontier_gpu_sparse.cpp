// The sparse frontier on a device: its kernels played on the host, and on a GPU where there is one. The same
// bits as on the CPU.
#include "bench/families.hpp"
#include "jit/compile/nvrtc.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/kernel/frontier.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/input/matrix.hpp"
#include "lib/run/gpu_device.hpp"
#include "lib/run/results.hpp"
#include "preprocess/scaling.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/nvrtc_target.hpp"
#include "tests/support/ptxas.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>

using namespace libperm;
namespace families = perm::families;
using families::Dense;

namespace {

std::uint64_t test_seed() { return run::seed(0x67707573); }
std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// The lowest row that equals each.
std::vector<std::int32_t> equal_rows(const Dense &rows) {
    std::map<std::vector<double>, std::int32_t> lowest;
    std::vector<std::int32_t> of_row;
    for (std::size_t i = 0; i < rows.size(); ++i)
        of_row.push_back(lowest.emplace(rows[i], static_cast<std::int32_t>(i)).first->second);
    return of_row;
}

struct Prepared {
    Block block;
    FrontierProgram program;
    bool nonnegative = true;
};

enum class Rows { searched, shuffled, as_they_are };

Prepared prepare(const perm::Csr &matrix, Rows rows, families::Random &random, bool merged = false) {
    const perm_csr view = matrix.view();
    const InputPattern input = read_pattern(&view);
    Prepared p{{input.pattern, {}}, {}};
    for (const double x : read_values(input, view.values).real) {
        p.block.values.push_back(tracked(x));
        p.nonnegative = p.nonnegative && x >= 0;
    }
    LineClasses kinds;
    if (merged)
        kinds = {equal_rows(families::to_dense(matrix)),
                 equal_rows(families::to_dense(families::transpose(matrix)))};
    const auto sides = frontier_sides(input.pattern, kinds);
    FrontierOrder order;
    if (rows == Rows::searched) {
        order = find_frontier_order(sides, {});
        REQUIRE(order.feasible);
    } else {
        for (const std::int64_t i : random.permutation(matrix.n_rows))
            order.rows.push_back(static_cast<std::int32_t>(i));
        if (rows == Rows::as_they_are) std::sort(order.rows.begin(), order.rows.end());
    }
    p.program = build_frontier_program(sides[order.transposed ? 1 : 0], order);
    return p;
}

// The same counters, scattered over so many words.
FrontierProgram widened(FrontierProgram program, std::int32_t words) {
    REQUIRE(program.slots <= 64);
    for (FrontierStep &step : program.steps)
        for (FrontierTerm &t : step.terms) t.slot += 64 * ((7 * t.slot + words - 1) % words);
    program.slots = 64 * words;
    return program;
}

void check_same(const EngineResult &on_device, const EngineResult &on_cpu) {
    const Outcome there = outcome_of(on_device), here = outcome_of(on_cpu);
    CHECK(std::bit_cast<std::uint64_t>(there.value.mantissa) ==
          std::bit_cast<std::uint64_t>(here.value.mantissa));
    CHECK(there.value.exp2 == here.value.exp2);
    CHECK(there.error.mantissa == here.error.mantissa);
    CHECK(there.error.exp2 == here.error.exp2);
    CHECK(there.rel_error_bound == here.rel_error_bound);
    CHECK(there.exact == here.exact);
    CHECK(there.counts.states == here.counts.states);
    CHECK(there.counts.peak_states == here.counts.peak_states);
    CHECK(there.counts.operations == here.counts.operations);
}

// The CPU's states; 0 if there is no compiler for the host.
double compare(HostQueue &queue, const Prepared &p, double room = sparse_device_room, bool scaled = true) {
    MemoryBudget memory(1 << 30);
    Block block = p.block;
    if (scaled) (void)scale(block);
    const FrontierRun run{{block, p.nonnegative}, p.program, memory, 1};
    const EngineResult here = run_sparse_frontier(run);
    if (const GpuChoice gpu = first_gpu(); gpu.gpu) {
        GpuQueue real(gpu.gpu, {});
        check_same(run_sparse_frontier_on(real, run, room), here);
    }
    try {
        check_same(run_sparse_frontier_on(queue, run, room), here);
    } catch (const JitError &e) {
        if (e.failure() == JitFailure::unavailable) return 0;
        throw;
    }
    CHECK(queue.is_whole());
    return here.counts.states;
}

constexpr families::Entries all_entries[] = {families::Entries::ones, families::Entries::nonnegative,
                                             families::Entries::real, families::Entries::integers};

} // namespace

TEST_CASE("random matrices have the same bits on a device") {
    HostQueue queue;
    families::Random random(test_seed());
    double most_states = 1;
    for (int trial = 0; trial < run::cases(60) && most_states > 0; ++trial) {
        CAPTURE(trial);
        const std::int64_t n = random.integer(1, 12);
        const auto entries = all_entries[trial % 4];
        const perm::Csr a = trial % 2 ? families::permutation_plus(n, 3, entries, random.bits())
                                      : families::erdos_renyi(n, 0.5, entries, random.bits());
        const double states = compare(queue, prepare(a, trial % 3 ? Rows::shuffled : Rows::searched, random),
                                      trial % 5 ? sparse_device_room : 0);
        most_states = states == 0 ? 0 : std::max(states, most_states);
    }
}

TEST_CASE("keys of every width, counted or not, have the same bits on a device") {
    HostQueue queue;
    families::Random random(test_seed() + 1);
    for (const std::int32_t words : {1, 2, 3, 8, 13, 64})
        for (const bool is_signed : {false, true})
            for (const bool counted : {false, true}) {
                CAPTURE(words);
                if (words > 2 && is_signed != counted) continue; // each kernel takes the compiler's time
                const auto entries = is_signed ? families::Entries::real : families::Entries::nonnegative;
                perm::Csr a = families::permutation_plus(9, 3, entries, random.bits());
                if (counted)
                    a = families::block_constant(families::to_dense(a), {1, 2, 1, 3, 1, 1, 2, 1, 1},
                                                 {2, 1, 3, 1, 1, 1, 2, 1, 1});
                Prepared p = prepare(a, Rows::shuffled, random, counted);
                p.program = widened(p.program, words);
                CHECK(p.program.counts == counted);
                if (compare(queue, p, counted ? 0 : sparse_device_room) == 0) return;
            }
}

TEST_CASE("more than 64 and more than 128 columns open at once") {
    HostQueue queue;
    families::Random random(test_seed() + 2);
    for (const std::int64_t n : {70, 135})
        for (const auto entries : {families::Entries::nonnegative, families::Entries::real}) {
            const Prepared p = prepare(families::arrow(n, entries, random.bits()), Rows::as_they_are, random);
            CHECK(p.program.slots >= n);
            if (compare(queue, p) == 0) return;
        }
    const Prepared p =
        prepare(families::banded(150, 2, 2, families::Entries::real, 3), Rows::searched, random);
    compare(queue, p);
}

TEST_CASE("rows of one term and of many, counters, cancellation, zeros and dead ends on a device") {
    HostQueue queue;
    families::Random random(test_seed() + 3);
    const auto integers = families::Entries::integers;
    const auto check = [&](const perm::Csr &a, Rows rows, bool merged = false) {
        CHECK(compare(queue, prepare(a, rows, random, merged), random.chance(0.5) ? 0 : sparse_device_room) >
              0);
    };
    if (compare(queue, prepare(families::triangular(1, integers, 1), Rows::searched, random)) == 0) return;
    check(families::triangular(9, integers, 2), Rows::shuffled);
    check(families::two_cycles(12, -2, 3), Rows::as_they_are);
    check(families::constant(6, -1), Rows::as_they_are);
    check(families::constant(40, 3), Rows::as_they_are, true);
    check(families::hadamard(8), Rows::shuffled); // much of it cancels
    Dense many(26, std::vector<double>(26, 0.0)); // its first two rows take any column
    for (std::size_t i = 0; i < 26; ++i)
        for (std::size_t j = 0; j < 26; ++j)
            if (i < 2 || i == j || i == j + 1) many[i][j] = families::random_entry(integers, random);
    check(families::from_dense(many), Rows::as_they_are);
    for (int trial = 0; trial < 12; ++trial) {
        CAPTURE(trial);
        Dense rows(10, std::vector<double>(10, 0.0)); // any pattern at all: most have no perfect matching
        for (auto &row : rows)
            for (double &x : row) x = random.chance(0.2) ? families::random_entry(integers, random) : 0.0;
        for (std::size_t i = 0; i < 10; ++i) rows[i][at(random.integer(0, std::min(trial, 9)))] = 1;
        Prepared p = prepare(families::from_dense(rows), Rows::shuffled, random);
        for (Tracked &x : p.block.values)
            if (random.chance(0.1)) x = tracked(0); // an entry that is there
        compare(queue, p, sparse_device_room, false);
    }
    for (int trial = 0; trial < 12; ++trial) {
        CAPTURE(trial);
        Dense value(5, std::vector<double>(4, 0.0));
        for (auto &row : value)
            for (double &x : row) x = random.chance(0.8) ? families::random_entry(integers, random) : 0.0;
        const perm::Csr a = families::block_constant(value, {3, 2, 4, 1, 2}, {5, 1, 4, 2});
        compare(queue, prepare(a, Rows::shuffled, random, true), trial % 2 ? sparse_device_room : 0);
    }
}

TEST_CASE("states are scaled on a device as they are on the CPU") {
    HostQueue queue;
    families::Random random(test_seed() + 4);
    for (const int exp2 : {200, -200, -1030})
        for (const auto entries : {families::Entries::nonnegative, families::Entries::real}) {
            perm::Csr a = families::permutation_plus(11, 2, entries, random.bits());
            Prepared p = prepare(a, Rows::shuffled, random);
            for (Tracked &x : p.block.values)
                x = tracked(std::ldexp(x.value, static_cast<int>(x.exp2) + exp2 +
                                                    static_cast<int>(random.integer(-20, 20))));
            if (compare(queue, p, sparse_device_room, false) == 0) return;
        }
}

TEST_CASE("lists of many tiles have the same bits on a device") {
    HostQueue queue;
    families::Random random(test_seed() + 5);
    for (const auto entries : {families::Entries::nonnegative, families::Entries::real}) {
        const perm::Csr a = families::erdos_renyi(17, 0.35, entries, random.bits());
        const Prepared p = prepare(a, Rows::shuffled, random);
        if (compare(queue, p, entries == families::Entries::real ? 0 : sparse_device_room) == 0) return;
    }
}

TEST_CASE("NVRTC compiles the kernels for every width of keys without a spilled register") {
    const std::optional<std::string> target = nvrtc_target();
    if (!target) return;
    bool flag = false;
    for (const int words : {1, 2, 4, 8, 16, 64}) {
        CAPTURE(words);
        const KernelRecipe recipe = sparse_frontier_kernels({words, flag, !flag});
        flag = !flag;
        const std::vector<PtxasReport> reports =
            read_ptxas(compile(recipe.source(), *target, recipe.flags).log);
        if (reports.empty()) { // compiled before: NVRTC has a cache of its own, and says nothing then
            run::skip("NVRTC says nothing of the kernels");
            continue;
        }
        CHECK(reports.size() == 2);
        for (const PtxasReport &report : reports) {
            CAPTURE(report.kernel);
            CHECK(report.spill_stores == 0);
            CHECK(report.stack == 0);
        }
    }
}

TEST_CASE("on a GPU: hundreds of thousands of states, in lists that grow and in lists that do not") {
    const GpuChoice gpu = first_gpu();
    if (!gpu.gpu) {
        run::skip(gpu.why_not);
        return;
    }
    families::Random random(test_seed());
    const auto nonnegative = families::Entries::nonnegative, real = families::Entries::real;
    double most_states = 0;
    for (const perm::Csr &matrix :
         {families::erdos_renyi(30, 0.22, real, test_seed()), families::erdos_renyi(34, 0.2, nonnegative, 5),
          families::grid(14, 14), families::banded(300, 5, 5, real, 3), families::grid(20, 20)})
        for (const double room : {0.0, sparse_device_room}) {
            const Prepared p = prepare(matrix, Rows::searched, random);
            MemoryBudget memory(std::int64_t{1} << 34);
            Block block = p.block;
            (void)scale(block);
            const FrontierRun run{{block, p.nonnegative}, p.program, memory, 2};
            const EngineResult here = run_sparse_frontier(run);
            GpuQueue queue(gpu.gpu, {});
            check_same(run_sparse_frontier_on(queue, run, room), here);
            most_states = std::max(most_states, here.counts.peak_states);
        }
    CHECK(most_states > 2e5);
}
