// Gradients and sub-permanents on a device: the kernels played on the host, and on a GPU where there is one.
// The same bits as on the CPU, however the pieces are shared out.
#include "bench/families.hpp"
#include "jit/compile/nvrtc.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/kernel/sign_sums.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/glynn/minors/left_out_in_pieces.hpp"
#include "lib/run/gpu_device.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/ptxas.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>
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
    GridMatrix lines = shape.no_lines();
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

// Of gradients the permanent, too, as if it stood in a column of its own.
void check_same(const LeftOutShape &shape, const GridMatrix &lines, LineSums sums, int threads) {
    const LeftOutSums here(shape, lines, threads), there(shape.what, lines, std::move(sums));
    const bool gradients = shape.what == LeftOut::gradients;
    const auto put = [&](const LeftOutSums &of, int i, int j, double *to) {
        return gradients && j == shape.columns() ? of.put_permanent(to) : of.put(i, j, 1, 0, to);
    };
    int wrong = 0;
    for (int i = 0; i < shape.rows(); ++i)
        for (int j = 0; j < (gradients ? shape.columns() + 1 : 1); ++j) {
            double x[2]{}, y[2]{};
            const double bound = put(here, i, j, x);
            wrong += !same(bound, put(there, i, j, y)) || !same(x[0], y[0]) || !same(x[1], y[1]);
            ++compared;
        }
    CHECK(wrong == 0);
}

LineSums added_up(std::span<const LineSums> tasks, const LeftOutShape &shape) {
    if (tasks.size() == 1) return tasks.front();
    LineSums all = shape.no_sums();
    for (const LineSums &task : tasks) add_task(task, all);
    return all;
}

void check_shape(DeviceQueue &queue, const LeftOutShape &shape, std::size_t room, families::Random &random) {
    CAPTURE(shape.columns());
    CAPTURE(shape.rows());
    CAPTURE(static_cast<int>(shape.what));
    CAPTURE(shape.is_complex);
    CAPTURE(room);
    REQUIRE(device_takes(shape));
    LeftOutOnDevice device(queue, shape, 1e-3, room);
    std::vector<GridMatrix> lines;
    for (const Kind kind : {Kind::integers, Kind::doubles, Kind::scaled})
        lines.push_back(random_lines(shape, kind, random));
    // One by one, each on as many grids as it has; and all at once.
    const std::uint64_t tasks = shape.share().tasks();
    const auto check = [&](std::span<const GridMatrix> some) {
        const std::vector<LineSums> sums = device.run(some, {0, tasks});
        REQUIRE(sums.size() == some.size() * tasks);
        for (std::size_t k = 0; k < some.size(); ++k)
            check_same(shape, some[k], added_up(std::span(sums).subspan(k * tasks, tasks), shape), 2);
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

// Matrices of a shape in pieces, on two devices of which each may fail: the bits of the CPU.
class TwoDevices {
  public:
    TwoDevices(const LeftOutShape &shape, std::int64_t count, double seconds, families::Random &random)
        : shape_(shape), count_(count), seconds_(seconds) {
        for (std::int64_t m = 0; m < count; ++m) seeds_.push_back(random.bits());
    }

    void last(int first_launches, int second_launches) {
        queues_[0].device.launches_left = first_launches;
        queues_[1].device.launches_left = second_launches;
    }
    int launches(std::size_t k) const { return queues_[k].launches(); }

    void check(PieceStore *store, bool on_devices = true) {
        const DeviceQueues both([this] { return std::vector<DeviceQueue *>{&queues_[0], &queues_[1]}; });
        CurrentCall whole;
        CurrentCall control(1, PieceScope{store, {}});
        std::atomic<std::int64_t> told{0};
        LeftOutPieces(shape_, count_, seconds_)
            .run({[&](std::int64_t m, GridMatrix &lines) { read(m, lines); },
                  [&](std::int64_t m, const GridMatrix &, LineSums sums) {
                      sums_[static_cast<std::size_t>(m)] = std::move(sums);
                      ++told;
                  }},
                 {on_devices ? &both : nullptr, seconds_, 2});
        REQUIRE(told == (store && store->is_of_one_shard() ? 0 : count_));
        for (std::int64_t m = 0; m < told; ++m) {
            GridMatrix lines(shape_.row_count, shape_.column_count, shape_.is_complex);
            read(m, lines);
            check_same(shape_, lines, *sums_[static_cast<std::size_t>(m)], 1);
        }
        CHECK((queues_[0].is_whole() && queues_[1].is_whole()));
    }

    ShardCount shards() const { return LeftOutPieces(shape_, count_, seconds_).shards(); }

  private:
    void read(std::int64_t m, GridMatrix &lines) const {
        families::Random random(seeds_[static_cast<std::size_t>(m)]);
        lines = random_lines(shape_, m % 2 == 0 ? Kind::doubles : Kind::scaled, random);
    }

    const LeftOutShape shape_;
    const std::int64_t count_;
    const double seconds_;
    std::vector<std::uint64_t> seeds_;
    std::vector<std::optional<LineSums>> sums_{static_cast<std::size_t>(count_)};
    HostQueue queues_[2];
};

TEST_CASE("two devices, of which one may fail, and shards of both: the bits of the CPU") {
    constexpr int never = 1 << 30;
    families::Random random(test_seed() + 2);
    const auto check = [&](const LeftOutShape &shape, std::int64_t count, double seconds) {
        TwoDevices devices(shape, count, seconds, random);
        devices.check(nullptr);
        CHECK(devices.launches(0) > 0);
        CHECK(devices.launches(1) > 0);
        for (const auto &[first, second] : {std::pair{0, never}, {never, 0}, {2, never}, {never, 2}}) {
            devices.last(first, second);
            devices.check(nullptr);
        }
        devices.last(0, 2);
        CHECK_THROWS_AS(devices.check(nullptr), JitError);
        devices.last(never, never);
        // Half of the shards by devices, the others by the processor, and all put together.
        PieceStore all;
        constexpr std::uint64_t shards = 5;
        for (std::uint64_t k = 0; k < shards; ++k) {
            PieceStore some(nullptr, Shard{shards, k});
            devices.check(&some, k % 2 == 0);
            for (Piece &piece : some.pieces()) all.put(std::move(piece));
        }
        const int launches = devices.launches(0) + devices.launches(1);
        devices.check(&all);
        CHECK(devices.launches(0) + devices.launches(1) == launches); // nothing was left to do
    };
    try {
        for (const bool is_complex : {false, true}) {
            if (run::sanitized && is_complex) break; // the kernels are not, and are most of it
            check({LeftOut::gradients, {6, 5, 6}, ones(17), is_complex}, 1, 0.5); // in tasks
            check(tall(12, is_complex), 9, 0.005);                                // of several matrices each
        }
    } catch (const JitError &) {
        return; // no compiler: announced
    }
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
