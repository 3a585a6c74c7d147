#include "lib/glynn/minors/left_out_on_device.hpp"

#include "jit/lanes/count_sum.hpp"
#include "lib/base/error.hpp"
#include "lib/input/options.hpp"
#include "lib/run/placement.hpp"
#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

constexpr double launch_seconds = 0.1; // of one launch at most, as predicted

// On an H200: clocks of a multiprocessor for a row and 32 signs; and of a matrix to bring it in and to tell
// of it.
constexpr double real_clocks = 27, complex_clocks = 245, matrix_seconds = 1e-5;

} // namespace

bool device_takes(const LeftOutShape &shape) {
    return shape.rows() >= 2 && shape.columns() <= most_summed_kinds &&
           shape.columns() >= least_left_out_columns &&
           std::all_of(shape.column_count.begin(), shape.column_count.end(), [](int c) { return c == 1; });
}

double left_out_seconds(const LeftOutShape &shape, const GpuProperties &gpu) {
    const double clocks = shape.rows() * (shape.is_complex ? complex_clocks : real_clocks) / 32;
    return std::ldexp(clocks, shape.columns() - 1) / (gpu.clock_hz * gpu.multiprocessors) + matrix_seconds;
}

bool goes_to_gpu(const Options &options, const LeftOutShape &shape, std::int64_t count, double cpu_seconds) {
    constexpr double start = gpu_start::bring_in + gpu_start::of_compiling * gpu_start::compile;
    const auto on_gpu = [&](const GpuProperties &gpu) {
        return static_cast<double>(count) * left_out_seconds(shape, gpu);
    };
    return device_takes(shape) && place({left_out_work, cpu_seconds, start, on_gpu, 0, true}, options).on_gpu;
}

LeftOutOnDevice::LeftOutOnDevice(DeviceQueue &queue, LeftOutShape shape, double seconds, std::size_t room)
    : queue_(queue),
      shape_(std::move(shape)),
      seconds_(seconds),
      entries_(queue),
      counts_(queue),
      scratch_(queue),
      pieces_(queue),
      sums_(queue) {
    const StepPieces share = shape_.share();
    tasks_ = share.tasks();
    steps_ = shape_.what == LeftOut::gradients ? 1 : std::min(share.steps, share.piece);
    per_task_ = share.steps / (tasks_ * steps_);
    const LeftOutKernel one = kernel(false);
    most_pieces_ = std::max<std::size_t>(room / (sizeof(double) * one.piece_doubles()), 1);
    at_once_ = std::max<std::size_t>(
        std::min(most_pieces_ / tasks_, room / (sizeof(double) * tasks_ * one.task_doubles())), 1);
    const std::vector<std::uint32_t> counts(shape_.row_count.begin(), shape_.row_count.end());
    counts_.reserve(counts.size() * sizeof counts[0]);
    queue_.copy_in(counts_.address(), counts.data(), counts.size() * sizeof counts[0]);
}

LeftOutKernel LeftOutOnDevice::kernel(bool is_split) const {
    Arithmetic arithmetic = shape_.is_complex ? Arithmetic::complex : Arithmetic::real;
    if (is_split) arithmetic = shape_.is_complex ? Arithmetic::complex_two_grids : Arithmetic::two_grids;
    return {shape_.what, shape_.rows(), shape_.columns(), arithmetic};
}

// A matrix on one grid gets zeros on the other where others have that one: its bits stay the same.
void LeftOutOnDevice::bring_in(std::span<const GridMatrix> matrices, const LeftOutKernel &kernel) {
    const std::size_t column = at(kernel.rows), part = column * at(kernel.columns),
                      matrix = at(row_parts_of(kernel.arithmetic)) * part;
    std::vector<double> entries(matrices.size() * matrix, 0.0);
    parallel_for(matrices.size(), [&](std::uint64_t m) {
        const CountedColumns view = matrices[m].view();
        const std::array<const double *, 4> all{view.re, view.re_low, view.im, view.im_low};
        double *to = entries.data() + m * matrix;
        for (std::size_t k = 0; k < all.size(); ++k) {
            if ((k >= 2 && !shape_.is_complex) || (k % 2 == 1 && !has_two_grids(kernel.arithmetic))) continue;
            if (all[k])
                for (int j = 0; j < kernel.columns; ++j)
                    std::copy_n(all[k] + std::ptrdiff_t{j} * view.stride, column, to + at(j) * column);
            to += part;
        }
    });
    entries_.reserve(entries.size() * sizeof(double));
    queue_.copy_in(entries_.address(), entries.data(), entries.size() * sizeof(double));
}

void LeftOutOnDevice::launch(const LeftOutKernel &kernel, std::size_t matrices, NumberRange of_each) {
    const std::uint64_t of_one = of_each.last - of_each.first, tasks = matrices * of_one;
    const double piece_seconds = seconds_ / static_cast<double>(tasks_ * per_task_);
    const auto short_enough = static_cast<std::uint64_t>(
        std::clamp(launch_seconds / (piece_seconds * static_cast<double>(tasks)), 1.0, 0x1p40));
    const std::uint64_t count =
        std::clamp<std::uint64_t>(std::min<std::uint64_t>(most_pieces_ / tasks, short_enough), 1, per_task_);
    const std::uint64_t of_matrix = of_one * count, of_warp = kernel.pieces_of_warp();
    const unsigned threads =
        queue_.block_threads(32 * static_cast<unsigned>(std::clamp<std::uint64_t>(
                                      (of_matrix + of_warp - 1) / of_warp, 1, left_out_threads / 32)));
    const std::size_t shared = kernel.shared_bytes(threads), of_block = threads / 32 * of_warp;
    queue_.allow_shared(left_out_entry, kernel.shared_bytes(queue_.block_threads(left_out_threads)));
    const std::uint64_t groups = matrices * ((of_matrix + of_block - 1) / of_block);
    const auto blocks = static_cast<unsigned>(
        std::min<std::uint64_t>(groups, queue_.blocks_at_once(left_out_entry, threads, shared)));
    scratch_.reserve(sizeof(double) * kernel.scratch_doubles() * blocks * of_block);
    pieces_.reserve(sizeof(double) * kernel.piece_doubles() * tasks * count);
    sums_.reserve(sizeof(double) * kernel.task_doubles() * tasks);

    int repeated = 0;
    for (int i = 0; i < kernel.rows; ++i)
        if (shape_.row_count[at(i)] > 1) repeated = i + 1;
    const std::uint64_t adders = tasks * kernel.task_sums();
    const unsigned adding = queue_.block_threads(left_out_threads);
    for (std::uint64_t first = 0; first < per_task_; first += count) {
        LeftOutLaunch launch{entries_.address(),
                             counts_.address(),
                             scratch_.address(),
                             pieces_.address(),
                             sums_.address(),
                             per_task_,
                             first,
                             std::min(count, per_task_ - first),
                             static_cast<std::uint32_t>(matrices),
                             static_cast<std::uint32_t>(of_one),
                             static_cast<std::uint32_t>(kernel.columns),
                             static_cast<std::uint32_t>(repeated),
                             static_cast<std::uint32_t>(steps_),
                             static_cast<std::uint32_t>(of_each.first)};
        const std::array<void *, 1> arguments{&launch};
        queue_.launch(left_out_entry, blocks, threads, arguments, shared);
        queue_.launch(left_out_add_entry, static_cast<unsigned>((adders + adding - 1) / adding), adding,
                      arguments);
        queue_.wait();
        call().advance(piece_seconds * static_cast<double>(tasks * launch.count));
    }
}

std::vector<LineSums> LeftOutOnDevice::run(std::span<const GridMatrix> matrices, NumberRange tasks) {
    const LeftOutKernel kernel = this->kernel(std::any_of(
        matrices.begin(), matrices.end(), [](const GridMatrix &lines) { return lines.view().is_split(); }));
    queue_.load(kernel.recipe());
    bring_in(matrices, kernel);
    launch(kernel, matrices.size(), tasks);
    const auto count = matrices.size() * static_cast<std::size_t>(tasks.last - tasks.first);
    std::vector<double> told(count * kernel.task_doubles());
    queue_.copy_out(told.data(), sums_.address(), told.size() * sizeof(double));
    std::vector<LineSums> sums(count, shape_.no_sums());
    parallel_for(count, [&](std::uint64_t k) {
        sums[k] = read_sums(told.data() + k * kernel.task_doubles(), kernel);
    });
    return sums;
}

LineSums LeftOutOnDevice::read_sums(const double *told, const LeftOutKernel &kernel) const {
    LineSums sums = shape_.no_sums();
    const auto rows = at(kernel.rows);
    for (int j = 0; j < kernel.sum_columns(); ++j)
        for (int part = 0; part < (shape_.is_complex ? 2 : 1); ++part) {
            std::copy_n(told, rows, sums.sums(part, j));
            std::copy_n(told + rows, rows, sums.rests(part, j));
            told += 2 * rows;
        }
    std::copy_n(told, rows, sums.mass());
    told += rows;
    if (!kernel.has_whole()) return sums;
    sums.whole.re = *told++;
    sums.whole.re_rest = *told++;
    if (shape_.is_complex) {
        sums.whole.im = *told++;
        sums.whole.im_rest = *told++;
    }
    sums.whole.mass = *told;
    return sums;
}

std::int64_t LeftOutOnDevice::peak_bytes() const {
    std::size_t bytes = 0;
    for (const DeviceArray *array : {&entries_, &counts_, &scratch_, &pieces_, &sums_})
        bytes += array->bytes();
    return static_cast<std::int64_t>(bytes);
}

} // namespace libperm
