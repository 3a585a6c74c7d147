// Gradients and sub-permanents on a device: the kernels played on the host, and on a GPU where there is one.
// The same bits as on the CPU, however the pieces are shared out.
#include "bench/families.hpp"
#include "jit/compile/nvrtc.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/kernel/left_out.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/glynn/minors/gradient_sums.hpp"
#include "lib/glynn/minors/left_out_on_device.hpp"
#include "lib/glynn/minors/minor_sums.hpp"
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

std::vector<int> ones(int count) { return std::vector<int>(static_cast<std::size_t>(count), 1); }

LeftOutShape square(int n, bool is_complex) { return {LeftOut::gradients, ones(n), ones(n), is_complex}; }
LeftOutShape tall(int columns, bool is_complex) {
    return {LeftOut::minors, ones(columns + 1), ones(columns), is_complex};
}

enum class Kind { doubles, integers, scaled };

GridMatrix random_lines(const LeftOutShape &shape, Kind kind, families::Random &random) {
    GridMatrix lines(shape.row_count, shape.column_count, shape.is_complex);
    const auto entry = [&] {
        if (kind == Kind::integers) return static_cast<double>(random.integer(-3, 3));
        const double x = 2 * random.uniform() - 1;
        return kind == Kind::scaled ? std::ldexp(x, static_cast<int>(random.integer(-300, 300))) : x;
    };
    for (int i = 0; i < shape.rows(); ++i)
        for (int j = 0; j < shape.columns(); ++j) {
            const double re = entry(), im = shape.is_complex ? entry() : 0;
            lines.set(i, j, re, im);
        }
    REQUIRE(lines.fix());
    return lines;
}

bool same(double x, double y) { return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y); }

int compared = 0;

// put(sums, i, j, to) of each sum returns its bound.
template <class Sums, class Put>
void check_same(const GridMatrix &lines, LineSums sums, int threads, int columns, const Put &put) {
    RunControl control;
    const Sums here(lines, threads, control), there(lines, std::move(sums));
    int wrong = 0;
    for (int i = 0; i < lines.view().rows; ++i)
        for (int j = 0; j < columns; ++j) {
            double x[2]{}, y[2]{};
            const double bound = put(here, i, j, x);
            wrong += !same(bound, put(there, i, j, y)) || !same(x[0], y[0]) || !same(x[1], y[1]);
            ++compared;
        }
    CHECK(wrong == 0);
}

void check_same(const LeftOutShape &shape, const GridMatrix &lines, LineSums sums, int threads) {
    if (shape.what == LeftOut::minors)
        return check_same<MinorSums>(
            lines, std::move(sums), threads, 1,
            [](const MinorSums &of, int i, int, double *to) { return of.put(i, to); });
    // The permanent as if it stood in a column of its own.
    check_same<GradientSums>(lines, std::move(sums), threads, shape.columns() + 1,
                             [&](const GradientSums &of, int i, int j, double *to) {
                                 return j == shape.columns() ? of.put_permanent(to) : of.put(i, j, 1, 0, to);
                             });
}

void check_shape(DeviceQueue &queue, const LeftOutShape &shape, std::size_t room, families::Random &random) {
    CAPTURE(shape.columns());
    CAPTURE(shape.rows());
    CAPTURE(static_cast<int>(shape.what));
    CAPTURE(shape.is_complex);
    CAPTURE(room);
    REQUIRE(device_takes(shape));
    LeftOutOnDevice device(queue, shape, 1e-3, room);
    RunControl control;
    std::vector<GridMatrix> lines;
    for (const Kind kind : {Kind::integers, Kind::doubles, Kind::scaled})
        lines.push_back(random_lines(shape, kind, random));
    // One by one, each on as many grids as it has; and all at once.
    const auto check = [&](std::span<const GridMatrix> some) {
        std::vector<LineSums> sums = device.run(some, control);
        REQUIRE(sums.size() == some.size());
        for (std::size_t k = 0; k < some.size(); ++k) check_same(shape, some[k], std::move(sums[k]), 2);
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
            check_shape(queue, square(12, is_complex), 1 << 20, random);
            check_shape(queue, tall(12, is_complex), 1 << 20, random);
            queue.device.block_threads = 32;
            check_shape(queue, {LeftOut::gradients, {3, 1, 2, 1}, ones(14), is_complex}, 1, random);
            check_shape(queue, {LeftOut::minors, {2, 1, 3}, ones(16), is_complex}, 1 << 20, random);
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
        check_shape(queue, tall(12, is_complex), 128 << 20, random);
        check_shape(queue, {LeftOut::gradients, {3, 1, 2, 1, 1, 4}, ones(12), is_complex}, 1, random);
    }
    CHECK(compared > 1000);
}

TEST_CASE("on a GPU: the bits of the CPU, larger") {
    const GpuChoice choice = first_gpu();
    if (!choice.gpu) return run::skip("no GPU: " + choice.why_not);
    GpuQueue queue(choice.gpu, {});
    families::Random random(test_seed() + 1);
    for (const bool is_complex : {false, true}) {
        for (const int n : {12, 17, 20, 21}) {
            check_shape(queue, square(n, is_complex), 128 << 20, random);
            check_shape(queue, tall(n + 1, is_complex), 128 << 20, random);
        }
        check_shape(queue, square(18, is_complex), 1 << 20, random);
        check_shape(queue, {LeftOut::minors, {2, 1, 3, 1}, ones(23), is_complex}, 1 << 20, random);
    }
    CHECK(compared > 1000);
}

TEST_CASE("NVRTC compiles the kernels, up to 36 rows of real numbers without a spilled register") {
    if (!nvrtc_status().found) return run::skip(nvrtc_status().why_not);
    const auto check = [](LeftOut what, int rows, Arithmetic arithmetic) {
        CAPTURE(rows);
        const KernelRecipe recipe = LeftOutKernel{what, rows, rows, arithmetic}.recipe();
        const Compiled compiled = compile(recipe.source(), "sm_90", recipe.flags);
        CHECK(compiled.image.size() > 1000);
        for (const PtxasReport &report : read_ptxas(compiled.log)) // none from some versions
            if (!is_complex(arithmetic)) CHECK(report.spill_stores == 0);
    };
    check(LeftOut::gradients, 12, Arithmetic::real);
    check(LeftOut::gradients, 36, Arithmetic::two_grids);
    check(LeftOut::gradients, 40, Arithmetic::complex_two_grids);
    check(LeftOut::minors, 36, Arithmetic::two_grids);
    check(LeftOut::minors, 41, Arithmetic::complex);
}
