// The dense frontier on a device: its kernels played on the host, and on a GPU where there is one. The same
// bits as on the CPU.
#include "bench/families.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/frontier/dense_layout.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/input/matrix.hpp"
#include "lib/number/combinations.hpp"
#include "lib/run/gpu_device.hpp"
#include "lib/run/results.hpp"
#include "preprocess/scaling.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>

using namespace libperm;
namespace families = perm::families;

namespace {

std::uint64_t test_seed() { return run::seed(0x67707564); }

struct Prepared {
    Block block;
    FrontierProgram program;
    bool nonnegative = true;
};

Prepared prepare(const perm::Csr &matrix, std::uint64_t seed = 0, bool search = true) {
    const perm_csr view = matrix.view();
    const InputPattern input = read_pattern(&view);
    Prepared p{{input.pattern, {}}, {}};
    for (const double x : read_values(input, view.values).real) {
        p.block.values.push_back(tracked(x));
        p.nonnegative = p.nonnegative && x >= 0;
    }
    const auto sides = frontier_sides(input.pattern, {});
    FrontierOrderOptions options;
    options.seed = seed;
    FrontierOrder order = find_frontier_order(sides, options);
    if (!search) { // a bad one: many columns open and close in one row
        families::Random random(seed);
        for (std::size_t k = order.rows.size(); k > 1; --k)
            std::swap(
                order.rows[k - 1],
                order.rows[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(k) - 1))]);
    }
    p.program = build_frontier_program(sides[order.transposed ? 1 : 0], order);
    return p;
}

void check_same(DeviceQueue &queue, const FrontierRun &run, double large = large_row) {
    const Outcome here = outcome_of(run_dense_frontier(run));
    const Outcome there = outcome_of(run_dense_slice_on(queue, run, run.program, large));
    CHECK(std::bit_cast<std::uint64_t>(there.value.mantissa) ==
          std::bit_cast<std::uint64_t>(here.value.mantissa));
    CHECK(there.value.exp2 == here.value.exp2);
    CHECK(there.rel_error_bound == here.rel_error_bound);
    CHECK(there.exact == here.exact);
    CHECK(there.counts.states == here.counts.states);
    CHECK(there.counts.peak_states == here.counts.peak_states);
}

// 0 if there is no compiler for the host.
int compare(HostQueue &queue, const Prepared &p) {
    MemoryBudget memory(std::int64_t{1} << 34);
    Block block = p.block;
    (void)scale(block);
    const FrontierRun run{{block, p.nonnegative}, p.program, memory, 2};
    if (const GpuChoice gpu = first_gpu(); gpu.gpu) {
        GpuQueue real(gpu.gpu, {});
        check_same(real, run);
        check_same(real, run, 0);
    }
    try {
        check_same(queue, run);
        check_same(queue, run, 0); // with cubes as large as those of large rows
    } catch (const JitError &e) {
        if (e.failure() == JitFailure::unavailable) return 0;
        throw;
    }
    CHECK(queue.is_whole());
    return 1;
}

} // namespace

TEST_CASE("the same bits as on the CPU: random matrices, good and bad orders, both kinds of numbers") {
    HostQueue queue;
    int compared = 0;
    for (std::uint64_t seed = test_seed(); seed < test_seed() + 24; ++seed) {
        CAPTURE(seed);
        const auto n = static_cast<std::int64_t>(3 + seed % 14);
        const auto entries = seed % 2 == 0 ? families::Entries::real : families::Entries::nonnegative;
        const bool search = seed % 3 != 0;
        const int done =
            compare(queue, prepare(families::permutation_plus(n, 3, entries, seed), seed, search));
        if (done == 0) return; // said by the host's compiler
        compared += done;
    }
    CHECK(compared == 24);
}

TEST_CASE("slots used again and again, and more open columns than low slots") {
    HostQueue queue;
    int compared = 0, high = 0;
    for (const auto entries : {families::Entries::nonnegative, families::Entries::real}) {
        for (const auto &[n, p] : {std::pair{16, 0.45}, std::pair{22, 0.2}, std::pair{60, 0.03}}) {
            const Prepared prepared = prepare(families::erdos_renyi(n, p, entries, test_seed()));
            if (prepared.program.slots > 17) continue; // minutes on the host
            const int done = compare(queue, prepared);
            if (done == 0) return;
            compared += done;
            high += prepared.program.slots > dense_low_slots;
        }
    }
    CHECK(compared >= 2);
    CHECK(high >= 2);
}

TEST_CASE("numbers far outside double's range are scaled back row by row") {
    HostQueue queue;
    perm::Csr matrix = families::permutation_plus(14, 3, families::Entries::nonnegative, 3);
    for (std::size_t k = 0; k < matrix.values.size(); ++k)
        matrix.values[k] = std::ldexp(matrix.values[k], k % 2 ? 150 : -90);
    Prepared p = prepare(matrix);
    if (compare(queue, p) == 0) return;
    // Without scaling before: the ledger's own.
    MemoryBudget memory(1 << 30);
    const FrontierRun run{{p.block, true}, p.program, memory, 1};
    const Outcome here = outcome_of(run_dense_frontier(run)),
                  there = outcome_of(run_dense_slice_on(queue, run, run.program));
    CHECK(here.value.mantissa == there.value.mantissa);
    CHECK(here.value.exp2 == there.value.exp2);
    CHECK(here.value.mantissa > 0);
}

TEST_CASE("memory that is too small is said to be, and given back") {
    const Prepared p = prepare(families::erdos_renyi(16, 0.4, families::Entries::nonnegative, 5));
    HostQueue queue(20000);
    try {
        if (compare(queue, p) == 0) return;
        FAIL("there was not so much memory");
    } catch (const JitError &e) {
        CHECK(e.failure() == JitFailure::out_of_memory);
    }
    CHECK(queue.free_bytes() == 20000);
}

TEST_CASE("a device with less memory than the tables need is given slices, of the same program") {
    for (const auto entries : {families::Entries::nonnegative, families::Entries::real}) {
        const Prepared p = prepare(families::erdos_renyi(17, 0.45, entries, 5));
        MemoryBudget memory(1 << 30);
        const FrontierRun run{{p.block, p.nonnegative}, p.program, memory, 1};
        const Outcome here = outcome_of(run_dense_frontier(run));
        const double needed = dense_device_bytes(p.program, p.nonnegative);
        HostQueue roomy, tight(static_cast<std::int64_t>(needed) - 1000);
        try {
            const Outcome whole = outcome_of(run_dense_frontier_on(roomy, run, {}));
            const Outcome sliced = outcome_of(run_dense_frontier_on(tight, run, {}));
            CHECK(whole.value.mantissa == here.value.mantissa);
            CHECK(static_cast<double>(whole.counts.peak_bytes) == needed);
            CHECK(sliced.counts.states > whole.counts.states);
            CHECK(sliced.counts.peak_bytes < whole.counts.peak_bytes);
            const double difference =
                std::ldexp(sliced.value.mantissa, static_cast<int>(sliced.value.exp2 - whole.value.exp2)) -
                whole.value.mantissa;
            CHECK(std::fabs(difference) <=
                  std::fabs(whole.value.mantissa) * (whole.rel_error_bound + 1.1 * sliced.rel_error_bound));
        } catch (const JitError &e) {
            if (e.failure() == JitFailure::unavailable) return;
            throw;
        }
    }
}

TEST_CASE("more high slots than one lookup has bits: arrows, row by row") {
    HostQueue queue;
    for (const bool is_signed : {false, true}) {
        constexpr std::int64_t n = 27;
        families::Random random(test_seed());
        perm::Csr matrix;
        matrix.n_rows = matrix.n_cols = n;
        matrix.row_ptr = {0};
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j)
                if (i == 0 || j == 0 || (i - j <= 1 && j - i <= 1)) {
                    matrix.col_idx.push_back(j);
                    matrix.values.push_back(random.uniform(is_signed ? -1 : 0, 1));
                }
            matrix.row_ptr.push_back(std::ssize(matrix.col_idx));
        }
        Prepared p = prepare(matrix);
        const perm_csr view = matrix.view();
        FrontierOrder order; // the first row opens all columns
        for (std::int32_t i = 0; i < n; ++i) order.rows.push_back(i);
        p.program = build_frontier_program(frontier_sides(read_pattern(&view).pattern, {})[0], order);
        CHECK(p.program.slots > dense_low_slots + dense_chunk_bits);
        if (compare(queue, p) == 0) return;
    }
}

TEST_CASE("entries from 5e-324 to 1e308, zeros of both signs, scaled and not, whole and in slices") {
    HostQueue queue;
    if (compare(queue, prepare(families::counting(3))) == 0) return;
    int slices_run = 0;
    for (std::uint64_t seed = test_seed(); seed < test_seed() + 30; ++seed) {
        CAPTURE(seed);
        families::Random random(seed);
        const auto n = random.integer(1, 13);
        perm::Csr m = families::erdos_renyi(n, 0.5, families::Entries::real, seed);
        const double odd[] = {0.0, -0.0, 5e-324, -1e-310, 1e300, -1e308, 1.0, 2.5, -3.0, 0.1};
        for (double &x : m.values)
            if (random.integer(0, 2) != 0) x = odd[random.integer(0, 9)];
        if (seed % 3 == 0)
            for (double &x : m.values) x = std::fabs(x);
        Prepared p = prepare(m, seed, seed % 2);
        p.nonnegative = is_nonnegative(p.block);
        MemoryBudget memory(std::int64_t{1} << 30);
        for (const bool scaled : {true, false}) {
            CAPTURE(scaled);
            Block block = p.block;
            if (scaled) (void)scale(block);
            const FrontierRun run{{block, p.nonnegative}, p.program, memory, 2};
            const auto same = [](const EngineResult &first, const EngineResult &second) {
                const Outcome x = outcome_of(first), y = outcome_of(second);
                CHECK(std::bit_cast<std::uint64_t>(x.value.mantissa) ==
                      std::bit_cast<std::uint64_t>(y.value.mantissa));
                CHECK(x.value.exp2 == y.value.exp2);
                CHECK(std::bit_cast<std::uint64_t>(x.error.mantissa) ==
                      std::bit_cast<std::uint64_t>(y.error.mantissa));
                CHECK(x.error.exp2 == y.error.exp2);
                CHECK(x.exact == y.exact);
            };
            same(run_dense_frontier(run), run_dense_slice_on(queue, run, p.program));
            SliceSearch search;
            search.most_bytes = dense_peak_bytes(p.program, p.nonnegative) / 5 + 60;
            search.needs = [&](const FrontierProgram &q) -> SliceNeeds {
                return {1, dense_peak_bytes(q, p.nonnegative)};
            };
            for (const FrontierSlice &s : find_slices(p.program, search)) {
                const FrontierProgram part = slice_of(p.program, s);
                const FrontierRun one = run.of(part);
                same(run_dense_frontier(one), run_dense_slice_on(queue, one, p.program));
                ++slices_run;
                if (slices_run % 50 == 0) break;
            }
        }
        CHECK(queue.is_whole());
    }
    CHECK(slices_run > 100);
}

TEST_CASE("combinations are ranked in the order of their numbers, in two halves too") {
    for (const int slots : {3, 12, 13, 16}) {
        const std::vector<std::uint32_t> ranks = combination_ranks(slots);
        std::vector<std::uint32_t> next(static_cast<std::size_t>(slots) + 1, 0);
        bool all = true;
        for (std::uint32_t set = 0; set >> slots == 0; ++set) {
            const std::uint32_t lower = set & 0xfff, upper = set >> 12;
            const std::uint32_t rank =
                ranks[lower] +
                (upper == 0 ? 0 : ranks[4096 + upper * 13 + static_cast<unsigned>(std::popcount(lower))]);
            all = all && rank == next[static_cast<std::size_t>(std::popcount(set))]++;
        }
        CHECK(all);
    }
}

// More high slots than one lookup has bits: the tables by themselves, for a run of it would take minutes
// here.
TEST_CASE("the high sets of a wide table name each block once, and the right source") {
    const Prepared p = prepare(families::erdos_renyi(41, 0.22, families::Entries::nonnegative, 7));
    for (const int most_cube : {0, 2, dense_most_cube}) {
        CAPTURE(most_cube);
        DenseRowMaker maker;
        SlotSet open = 0;
        int wide = 0;
        for (const FrontierStep &step : p.program.steps) {
            maker.advance(step, most_cube);
            const SlotSet before = open;
            SlotSet closing = 0, opening = 0;
            std::vector<SlotSet> terms; // high ones
            for (const FrontierTerm &t : step.terms) {
                const SlotSet bit = SlotSet{1} << t.slot;
                open |= bit;
                if (t.opens) opening |= bit;
                if (t.closes) closing |= bit;
                if (t.slot >= low_slots) terms.push_back(bit);
            }
            open &= ~closing;
            const DenseRow &row = maker.row();
            const int high_bits = std::popcount(open & ~low_mask);
            if (high_bits != 13 && (run::sanitized || high_bits != 14)) continue;
            ++wide;
            const auto cube = static_cast<std::size_t>(row.cube_terms);
            CHECK(row.cube_terms == std::min(most_cube, static_cast<int>(terms.size())));
            std::vector<char> met(std::size_t{1} << high_bits, 0);
            bool sources = true;
            std::ptrdiff_t blocks = 0;
            for (std::uint32_t number = 0; number >> row.cube_bits == 0; ++number) {
                const DenseHighSet &lower = maker.high()[number & 4095];
                const DenseHighSet upper =
                    row.cube_bits > dense_chunk_bits ? maker.high()[4096 + (number >> 12)] : DenseHighSet{};
                for (std::uint32_t set = 0; set >> cube == 0; ++set) {
                    if ((set & row.cube_closing) != row.cube_closing) continue;
                    std::uint32_t to = lower.to | upper.to, from = lower.from | upper.from, present = 0;
                    for (std::size_t k = 0; k < cube; ++k) {
                        if (set >> k & 1) to |= row.cube_to[k];
                        if (set >> k & 1) from |= row.cube_from[k];
                    }
                    ++blocks;
                    met[to] = 1;
                    const SlotSet full = spread_bits(to, open & ~low_mask) | (closing & ~low_mask);
                    const SlotSet source = full & before & ~opening;
                    sources = sources && from == pack_bits(source, before & ~low_mask);
                    for (std::size_t k = 0; k < terms.size(); ++k)
                        if (full & terms[k]) present |= std::uint32_t{1} << k;
                    sources = sources && ((lower.present | upper.present) << cube | set) == present;
                }
            }
            CHECK(blocks == static_cast<std::ptrdiff_t>(met.size()));
            CHECK(std::count(met.begin(), met.end(), 1) == blocks);
            CHECK(sources);
        }
        CHECK(wide >= (run::sanitized ? 1 : 2));
    }
}

TEST_CASE("on a GPU: tables of millions of states, with more high slots than one lookup has bits") {
    const GpuChoice gpu = first_gpu();
    if (!gpu.gpu) {
        run::skip(gpu.why_not);
        return;
    }
    int wide = 0;
    for (std::uint64_t seed = test_seed(); seed < test_seed() + 12; ++seed) {
        CAPTURE(seed);
        const auto entries = seed % 2 == 0 ? families::Entries::real : families::Entries::nonnegative;
        const auto n = static_cast<std::int64_t>(28 + seed % 6);
        const Prepared p = prepare(families::erdos_renyi(n, 0.25, entries, seed), seed);
        if (p.program.slots > 27) continue; // seconds on the CPU
        wide += p.program.slots > dense_low_slots + dense_chunk_bits;
        MemoryBudget memory(std::int64_t{1} << 34);
        Block block = p.block;
        (void)scale(block);
        GpuQueue queue(gpu.gpu, {});
        check_same(queue, {{block, p.nonnegative}, p.program, memory, 2});
    }
    CHECK(wide > 0);
}
