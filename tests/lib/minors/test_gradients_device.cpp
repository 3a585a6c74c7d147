// Gradients on a device: the kernel played on the host, and on a GPU where there is one. The same bits as on
// the CPU, however the pieces are shared out.
#include "bench/families.hpp"
#include "jit/compile/nvrtc.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/kernel/gradient.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/minors/gradient_sums.hpp"
#include "lib/minors/gradients_on_device.hpp"
#include "lib/run/gpu_device.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <vector>

using namespace libperm;
namespace families = perm::families;

namespace {

std::uint64_t test_seed() { return run::seed(0x677261); }

struct Shape {
    std::vector<int> row_count;
    int columns;
    bool is_complex;
};

Shape square(int n, bool is_complex) {
    return {std::vector<int>(static_cast<std::size_t>(n), 1), n, is_complex};
}

enum class Kind { doubles, integers, scaled };

GridLines random_lines(const Shape &shape, Kind kind, families::Random &random) {
    GridLines lines(shape.row_count, std::vector<int>(static_cast<std::size_t>(shape.columns), 1),
                    shape.is_complex);
    const auto entry = [&] {
        if (kind == Kind::integers) return static_cast<double>(random.integer(-3, 3));
        const double x = 2 * random.uniform() - 1;
        return kind == Kind::scaled ? std::ldexp(x, static_cast<int>(random.integer(-300, 300))) : x;
    };
    for (int i = 0; i < static_cast<int>(shape.row_count.size()); ++i)
        for (int j = 0; j < shape.columns; ++j) {
            const double re = entry(), im = shape.is_complex ? entry() : 0;
            lines.set(i, j, re, im);
        }
    REQUIRE(lines.fix());
    return lines;
}

bool same(double x, double y) { return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y); }

int compared = 0;

void check_same(const GridLines &lines, LineSums sums, int threads) {
    RunControl control;
    const GradientSums here(lines, threads, control), there(lines, std::move(sums));
    const CountedColumns view = lines.view();
    int wrong = 0;
    const auto compare = [&](double bound, double other, const double *x, const double *y) {
        wrong += !same(bound, other) || !same(x[0], y[0]) || (view.is_complex() && !same(x[1], y[1]));
        ++compared;
    };
    for (int i = 0; i < view.rows; ++i)
        for (int j = 0; j < view.columns; ++j) {
            double x[2], y[2];
            const double bound = here.put(i, j, 1, 0, x);
            compare(bound, there.put(i, j, 1, 0, y), x, y);
        }
    double x[2], y[2];
    const double bound = here.put_permanent(x);
    compare(bound, there.put_permanent(y), x, y);
    CHECK(wrong == 0);
}

void check_shape(DeviceQueue &queue, const Shape &shape, std::size_t room, families::Random &random) {
    CAPTURE(shape.columns);
    CAPTURE(shape.row_count.size());
    CAPTURE(shape.is_complex);
    CAPTURE(room);
    REQUIRE(
        device_takes_gradients(static_cast<int>(shape.row_count.size()), shape.columns, shape.is_complex));
    GradientsOnDevice device(queue, shape.row_count, shape.columns, shape.is_complex, 1e-3, room);
    RunControl control;
    std::vector<GridLines> lines;
    for (const Kind kind : {Kind::integers, Kind::doubles, Kind::scaled})
        lines.push_back(random_lines(shape, kind, random));
    // One by one, each on as many grids as it has; and all at once.
    const auto check = [&](std::span<const GridLines> some) {
        std::vector<LineSums> sums = device.run(some, control);
        REQUIRE(sums.size() == some.size());
        for (std::size_t k = 0; k < some.size(); ++k) check_same(some[k], std::move(sums[k]), 2);
    };
    check({lines.data(), 1});
    check(lines);
}

} // namespace

TEST_CASE("played on the host: the bits of the CPU") {
    HostQueue queue;
    families::Random random(test_seed());
    try {
        for (const bool is_complex : {false, true}) {
            const int least = is_complex ? 11 : 12;
            check_shape(queue, square(least, is_complex), 1 << 20, random);
            queue.device.block_threads = 32;
            check_shape(queue, square(least + 2, is_complex), 1 << 20, random);
            check_shape(queue, {{3, 1, 2, 1, 1}, least + 1, is_complex}, 1, random); // a piece at a time
            queue.device.block_threads = 64;
        }
    } catch (const JitError &) {
        return; // no compiler: announced
    }
    CHECK(queue.is_whole());
    CHECK(compared > 1000);
}

TEST_CASE("on a GPU: the bits of the CPU, small") {
    const GpuChoice choice = first_gpu();
    if (!choice.gpu) return run::skip("no GPU: " + choice.why_not);
    GpuQueue queue(choice.gpu, {});
    families::Random random(test_seed());
    for (const bool is_complex : {false, true}) {
        check_shape(queue, square(13, is_complex), 128 << 20, random);
        check_shape(queue, {{3, 1, 2, 1, 1, 4}, 12, is_complex}, 1, random);
    }
    CHECK(compared > 1000);
}

TEST_CASE("on a GPU: the bits of the CPU, larger") {
    const GpuChoice choice = first_gpu();
    if (!choice.gpu) return run::skip("no GPU: " + choice.why_not);
    GpuQueue queue(choice.gpu, {});
    families::Random random(test_seed() + 1);
    for (const bool is_complex : {false, true}) {
        for (const int n : {12, 17, 20, 21}) check_shape(queue, square(n, is_complex), 128 << 20, random);
        check_shape(queue, square(18, is_complex), 1 << 20, random);
    }
    CHECK(compared > 1000);
}

TEST_CASE("NVRTC compiles the kernel, up to 36 rows of real numbers without a spilled register") {
    if (!nvrtc_status().found) return run::skip(nvrtc_status().why_not);
    const auto check = [](int rows, Arithmetic arithmetic) {
        CAPTURE(rows);
        const KernelRecipe recipe = gradient_kernel(rows, arithmetic);
        const Compiled compiled = compile(recipe.source(), "sm_90", recipe.flags);
        const std::vector<PtxasReport> reports = read_ptxas(compiled.log);
        CHECK(reports.size() == recipe.entries.size());
        for (const PtxasReport &report : reports)
            if (!is_complex(arithmetic)) CHECK(report.spill_stores == 0);
    };
    check(12, Arithmetic::real);
    check(36, Arithmetic::two_grids);
    check(12, Arithmetic::complex);
    check(40, Arithmetic::complex_two_grids);
}
