// Tables over sets on a device: the kernels played on the host, and on a GPU where there is one. The same
// bits as on the processor.
#include "jit/compile/nvrtc.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/kernel/matchings.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/run/gpu_device.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/nvrtc_target.hpp"
#include "tests/support/ptxas.hpp"
#include "tests/support/run.hpp"
#include "tests/support/set_gates.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

using namespace libperm;
using namespace perm::families;
using namespace gates;

namespace {

struct Size {
    std::int64_t rows, cols;
    double density;
    bool may_be_left = false;
};

// Numbers compared.
std::size_t check_same(DeviceQueue &queue, const Size &size, const Draw &draw, Random &random) {
    CAPTURE(size.rows);
    CAPTURE(size.cols);
    CAPTURE(size.density);
    MatchingMatrix gates = drawn(random, size.rows, size.cols, size.density, draw);
    if (size.may_be_left) { // so that there is a matching
        gates.row_weights.emplace(gates.entries.size(), real_number(0.1));
        gates.col_weights.emplace(static_cast<std::size_t>(gates.cols), real_number(0.5));
    }
    const MatchingInput input(gates, PERM_VALUE_F64, random);
    std::size_t compared = 0;
    for (const std::int64_t memory : {std::int64_t{1} << 32, std::int64_t{4} << 20}) {
        const auto here = found_in(input, {.memory = memory, .threads = 2}),
                   there = found_in(input, {.memory = memory, .device = &queue});
        REQUIRE(here.has_value() == there.has_value());
        if (!here) continue;
        CHECK(is_same(*here, *there));
        if (here->value.value.mantissa != 0) compared += here->marginals.size() - 1;
    }
    return compared;
}

MatchingInput a_gate(Random &random) { return {drawn(random, 9, 14, 1, uniform), PERM_VALUE_F64, random}; }

} // namespace

TEST_CASE("tables over sets on a device have the bits of the processor") {
    Random random(run::seed(2601));
    HostQueue queue;
    std::size_t compared = 0, apart = 0;
    for (const unsigned threads : {64u, 4u}) {
        queue.device.block_threads = threads;
        for (int i = 0; i < run::cases(12); ++i) {
            const Size size{random.integer(0, 9), random.integer(0, 12), random.uniform(0.2, 1)};
            compared += check_same(queue, size, uniform, random);
            apart += check_same(queue, size, far_apart, random);
        }
    }
    queue.device.block_threads = 64;
    CHECK(compared > run::enough(500));
    CHECK(apart > run::enough(100));
    CHECK(check_same(queue, {25, 30, 0.12, true}, uniform, random) > 0);
    CHECK(check_same(queue, {16, 17, 1, true}, uniform, random) > 0); // of several chunks
    CHECK(queue.is_whole());
}

TEST_CASE("tables over sets on a device: without room, or where it fails, the error is its own") {
    Random random(run::seed(2602));
    const MatchingInput input = a_gate(random);
    HostQueue small(1 << 10);
    CHECK_THROWS_AS(found_in(input, {.device = &small}), JitError);
    HostQueue failing;
    failing.device.launches_left = 20;
    CHECK_THROWS_AS(found_in(input, {.device = &failing}), JitError);
    failing.device.launches_left = 1 << 30;
    CHECK(found_in(input, {.device = &failing}).has_value());
}

TEST_CASE("tables over sets on a device: a call that is to stop stops") {
    Random random(run::seed(2603));
    const MatchingInput input = a_gate(random);
    const InputPattern read = read_pattern(&input.csr());
    const auto sets = SetGradient::of(as_given(read), Options{});
    REQUIRE(sets != nullptr);
    HostQueue queue;
    CallWatch watch;
    watch.stop_seconds = 1e-6;
    CurrentCall control(watch);
    std::vector<double> marginals(static_cast<std::size_t>(input.csr().nnz + 9 + 14)), own;
    CHECK_THROWS_AS(static_cast<void>(sets->run(plain_weights(as_given(read), input.values(), own),
                                                marginals.data(), nullptr, &queue)),
                    Error);
    CHECK(queue.launches() == 1);
}

TEST_CASE("the kernels of tables over sets compile for a GPU and spill nothing") {
    const std::optional<std::string> target = nvrtc_target();
    if (!target) return;
    const KernelRecipe kernels = set_table_kernels();
    const std::vector<PtxasReport> reports =
        read_ptxas(compile(kernels.source(), *target, kernels.flags).log);
    CHECK(reports.size() == kernels.entries.size());
    for (const PtxasReport &report : reports) {
        CAPTURE(report.kernel);
        CHECK(report.spill_stores == 0);
        CHECK(report.stack == 0);
        CHECK(report.registers <= 64);
    }
}

TEST_CASE("on a GPU: tables over sets have the bits of the processor") {
    const GpuChoice choice = first_gpu();
    if (!choice.gpu) return run::skip("no GPU: " + choice.why_not);
    GpuQueue queue(choice.gpu, {});
    Random random(run::seed(2604));
    std::size_t compared = 0;
    for (const Size &size :
         {Size{0, 3, 1}, {3, 5, 1}, {12, 20, 0.5}, {20, 60, 1}, {17, 40, 1}, {40, 60, 0.1}})
        for (const Draw &draw : {Draw(uniform), Draw(far_apart)})
            for (const bool may_be_left : {false, true}) {
                Size of = size;
                of.may_be_left = may_be_left;
                compared += check_same(queue, of, draw, random);
            }
    CHECK(compared > 3000);
}
