// Sums over signs of pairs of lines on a device: the kernels played on the host, and on a GPU where there is
// one. The same bits as on the processor, of sums and of bounds.
#include "jit/compile/nvrtc.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/bjorklund/bjorklund.hpp"
#include "lib/bjorklund/sums.hpp"
#include "lib/number/residues.hpp"
#include "lib/run/gpu_device.hpp"
#include "lib/run/results.hpp"
#include "tests/lib/bjorklund/graphs.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/nvrtc_target.hpp"
#include "tests/support/ptxas.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <hwy/aligned_allocator.h>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

using namespace libperm;
using graphs::at, graphs::same;
using perm::families::Random;

namespace {

constexpr Arithmetic arithmetics[] = {Arithmetic::real, Arithmetic::complex, Arithmetic::dd,
                                      Arithmetic::complex_dd, Arithmetic::modular};
constexpr double prime = 140737488355213; // the largest below 2^47

LineNumbers random_lines(Arithmetic arithmetic, int pairs, bool has_loops, Random &random) {
    LineNumbers lines{arithmetic, pairs, has_loops, {}, {}, prime};
    const int edges = lines.lines() * (lines.lines() - 1) / 2;
    for (int k = 0; k < edges * parts_of(arithmetic); ++k) {
        const bool low = is_dd(arithmetic) && k % 2 == 1;
        lines.entries.push_back(arithmetic == Arithmetic::modular
                                    ? std::floor(random.uniform(-0.5, 0.5) * prime)
                                    : random.uniform(-1, 1) * (low ? 0x1p-55 : 1));
    }
    for (int k = 0; k < edges; ++k) lines.errors.push_back(random.chance(0.5) ? 0 : 0x1p-60);
    return lines;
}

HafnianLanes lanes_here(const LineNumbers &lines, int bits, std::uint64_t piece) {
    const auto room = hwy::AllocateAligned<double>(hafnian_room(lines.view()));
    HafnianLanes lanes{};
    sum_over_pair_signs(lines.view(), bits, piece, room.get(), lanes);
    return lanes;
}

// Numbers compared.
int check_lanes(DeviceQueue &queue, const LineNumbers &lines, int bits,
                const std::vector<std::uint64_t> &pieces) {
    SignsOnDevice device(queue, lines, bits, 1e-6);
    const std::vector<HafnianLanes> there = device.lanes_of(lines, pieces);
    REQUIRE(there.size() == pieces.size());
    CHECK(device.peak_bytes() > 0);
    int compared = 0;
    for (std::size_t k = 0; k < pieces.size(); ++k, compared += HafnianLanes::lanes) {
        const HafnianLanes here = lanes_here(lines, bits, pieces[k]);
        CHECK(std::memcmp(&here, &there[k], sizeof here) == 0);
    }
    return compared;
}

EngineResult result_of(const EngineInput &input, DeviceQueue *queue) {
    const BjorklundPlan plan(input.pattern());
    if (queue == nullptr) return run_bjorklund(plan, input);
    const DeviceQueues queues(*queue);
    return run_bjorklund(plan, input, {&queues, 1e-3});
}

void check_same(const EngineInput &input, DeviceQueue &queue) {
    const EngineResult x = result_of(input, nullptr), y = result_of(input, &queue);
    CHECK(x.counts.operations == y.counts.operations);
    CHECK(x.counts.peak_bytes == 0);
    CHECK(y.counts.peak_bytes > 0);
    if (const auto *residues = std::get_if<ResidueVector>(&x.value)) {
        CHECK(*residues == std::get<ResidueVector>(y.value));
        return;
    }
    const Outcome here = outcome_of(x), there = outcome_of(y);
    CHECK(here.value.mantissa != 0);
    CHECK(same(here, there));
}

// In all kinds of numbers, of so many lines.
void check_engine(DeviceQueue &queue, std::int32_t n, bool loops, Random &random) {
    CAPTURE(n);
    CAPTURE(loops);
    const ExactBlock block = graphs::with_numbers(graphs::complete(n, loops), Complexes::complex, random);
    check_same({block, Arithmetic::complex}, queue);
    check_same({block, Arithmetic::complex_dd}, queue);
    Block real{block.pattern, {}};
    std::vector<std::uint64_t> whole;
    for (std::size_t k = 0; k < block.values.size(); ++k) {
        real.values.push_back(tracked(random.uniform(-1, 1)));
        whole.push_back(random.bits() >> 20);
    }
    check_same(real, queue);
    check_same(Residues{block.pattern, primes_below(modular_bits, 2, false), {whole, whole}}, queue);
}

} // namespace

TEST_CASE("lanes on a device have the bits of the processor") {
    Random random(run::seed(0x736f64));
    HostQueue queue;
    int compared = 0;
    for (const Arithmetic arithmetic : arithmetics)
        for (const bool loops : {false, true})
            for (int pairs = HafnianLines::least_pairs; pairs <= (run::sanitized ? 7 : 9); ++pairs) {
                CAPTURE(arithmetic_name(arithmetic));
                CAPTURE(loops);
                CAPTURE(pairs);
                queue.device.block_threads = pairs % 2 == 0 ? 64 : 8;
                queue.device.shared_bytes = pairs % 3 == 0 ? HostKernel::most_shared : 8192;
                const LineNumbers lines = random_lines(arithmetic, pairs, loops, random);
                for (int bits = 0; bits <= hafnian_sign_bits(pairs); ++bits) {
                    const auto last = (std::uint64_t{1} << bits) - 1;
                    std::vector<std::uint64_t> pieces{static_cast<std::uint64_t>(random.integer(0, last))};
                    if (last > 0 && pieces.front() != last) pieces.push_back(last);
                    compared += check_lanes(queue, lines, bits, pieces);
                }
            }
    CHECK(compared > (run::sanitized ? 200 : 800));
    CHECK(queue.is_whole());
}

TEST_CASE("hafnians on a device have the bits of the processor, piece by piece and in all") {
    Random random(run::seed(0x736f65));
    HostQueue queue;
    for (const bool loops : {false, true}) {
        check_engine(queue, 12, loops, random);
        if (!run::sanitized) check_engine(queue, 17, true, random);
        const LineNumbers lines = random_lines(Arithmetic::complex, 15, loops, random); // in pieces
        check_lanes(queue, lines, 8, {3, 77, 200});
    }
    CHECK(queue.is_whole());
}

TEST_CASE("hafnians on a device: without room, or where it fails, the error is its own") {
    Random random(run::seed(0x736f66));
    const ExactBlock block = graphs::with_numbers(graphs::complete(14, false), Complexes::complex, random);
    const EngineInput input(block, Arithmetic::complex);
    HostQueue small(1 << 10);
    CHECK_THROWS_AS(result_of(input, &small), JitError);
    HostQueue failing;
    failing.device.launches_left = 0;
    CHECK_THROWS_AS(result_of(input, &failing), JitError);
    failing.device.launches_left = 1 << 30;
    check_same(input, failing);
}

TEST_CASE("hafnians on a device: a call that is to stop stops") {
    Random random(run::seed(0x736f67));
    const ExactBlock block = graphs::with_numbers(graphs::complete(12, false), Complexes::complex, random);
    HostQueue queue;
    CallWatch watch;
    watch.stop_seconds = 1e-6;
    CurrentCall control(watch);
    const DeviceQueues queues(queue);
    CHECK_THROWS_AS(static_cast<void>(run_bjorklund(BjorklundPlan(block.pattern),
                                                    {block, Arithmetic::complex}, {&queues, 1e-3})),
                    Error);
    CHECK(queue.launches() == 0);
}

TEST_CASE("the kernels of hafnians compile for a GPU and spill nothing") {
    const std::optional<std::string> target = nvrtc_target();
    if (!target) return;
    for (const Arithmetic arithmetic : arithmetics) {
        CAPTURE(arithmetic_name(arithmetic));
        const KernelRecipe kernel = hafnian_kernel(arithmetic);
        const std::vector<PtxasReport> reports =
            read_ptxas(compile(kernel.source(), *target, kernel.flags).log);
        REQUIRE(reports.size() == 1);
        CHECK(reports.front().spill_stores == 0);
        CHECK(reports.front().stack == 0);
        CHECK(reports.front().registers <= 128);
    }
}

TEST_CASE("on a GPU: hafnians have the bits of the processor") {
    const GpuChoice choice = first_gpu();
    if (!choice.gpu) return run::skip("no GPU: " + choice.why_not);
    GpuQueue queue(choice.gpu, {});
    Random random(run::seed(0x736f68));
    int compared = 0;
    for (const Arithmetic arithmetic : arithmetics)
        for (const bool loops : {false, true})
            for (const int pairs : {6, 7, 10, 13, 15}) {
                CAPTURE(arithmetic_name(arithmetic));
                CAPTURE(loops);
                CAPTURE(pairs);
                const LineNumbers lines = random_lines(arithmetic, pairs, loops, random);
                const int bits = hafnian_sign_bits(pairs) / 2;
                std::vector<std::uint64_t> pieces(std::size_t{1} << bits);
                std::iota(pieces.begin(), pieces.end(), 0);
                compared += check_lanes(queue, lines, bits, pieces);
            }
    for (const std::int32_t n : {12, 21, 30})
        for (const bool loops : {false, true}) check_engine(queue, n + (loops ? 0 : n % 2), loops, random);
    CHECK(compared > 1000);
}
