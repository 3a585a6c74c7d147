#include "lib/minors/gradients_on_device.hpp"

#include "jit/lanes/gradient_sum.hpp"
#include "lib/base/error.hpp"
#include "lib/input/options.hpp"
#include "lib/minors/gradient_sums.hpp"
#include "lib/run/gpu_device.hpp"
#include "lib/small/term_answer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

Arithmetic arithmetic_of(bool is_complex, bool is_split) {
    if (is_split) return is_complex ? Arithmetic::complex_two_grids : Arithmetic::two_grids;
    return is_complex ? Arithmetic::complex : Arithmetic::real;
}

constexpr double launch_seconds = 0.1; // of one launch at most, as predicted

// Clocks of a multiprocessor for a row and 32 signs; and what it takes to bring a kernel and memory in.
constexpr double real_clocks = 14, complex_clocks = 45, begin_seconds = 0.02, compile_seconds = 1.5;

} // namespace

bool device_takes_gradients(int rows, int columns, bool is_complex) {
    return rows >= 2 && columns <= most_gradient_order &&
           columns >= least_gradient_columns_on_device(arithmetic_of(is_complex, false));
}

double gradient_seconds(int rows, int columns, bool is_complex, const GpuProperties &gpu) {
    return std::ldexp(rows * (is_complex ? complex_clocks : real_clocks) / 32, columns - 1) /
           (gpu.clock_hz * gpu.multiprocessors);
}

bool gradients_go_to_gpu(const Options &options, int rows, int columns, bool is_complex, std::int64_t count,
                         double cpu_seconds) {
    constexpr double of_compiling = 0.25; // it is done once, as in lib/run/candidate.cpp
    constexpr double least = begin_seconds + of_compiling * compile_seconds;
    if (options.device == Device::cpu || !device_takes_gradients(rows, columns, is_complex)) return false;
    if (options.device == Device::automatic && cpu_seconds < least) return false;
    const GpuSight sight = first_gpu_in_sight();
    if (options.device == Device::gpu) {
        if (!sight.gpu) throw Error(PERM_UNSUPPORTED, sight.why_not);
        return true;
    }
    return sight.gpu &&
           least + static_cast<double>(count) * gradient_seconds(rows, columns, is_complex, *sight.gpu) <
               cpu_seconds;
}

GradientsOnDevice::GradientsOnDevice(DeviceQueue &queue, std::vector<int> row_count, int columns,
                                     bool is_complex, double seconds, std::size_t room)
    : queue_(queue),
      row_count_(std::move(row_count)),
      rows_(static_cast<int>(row_count_.size())),
      columns_(columns),
      is_complex_(is_complex),
      seconds_(seconds),
      tasks_(at(gradient_threads(rows_, columns, is_complex))),
      per_task_(gradient_pieces(rows_, columns, is_complex) / tasks_),
      most_pieces_(std::max<std::size_t>(room / (8 * gradient_piece_doubles(rows_, arithmetic(false))), 1)),
      at_once_(std::max<std::size_t>(
          std::min(most_pieces_ / tasks_,
                   room / (8 * tasks_ * gradient_task_doubles(rows_, columns, arithmetic(false)))),
          1)),
      entries_(queue),
      counts_(queue),
      scratch_(queue),
      pieces_(queue),
      sums_(queue) {
    const std::vector<std::uint32_t> counts(row_count_.begin(), row_count_.end());
    counts_.reserve(counts.size() * sizeof counts[0]);
    queue_.copy_in(counts_.address(), counts.data(), counts.size() * sizeof counts[0]);
}

Arithmetic GradientsOnDevice::arithmetic(bool is_split) const { return arithmetic_of(is_complex_, is_split); }

// Of a matrix on one grid the parts on the other are zeros, where others have them: the same bits.
void GradientsOnDevice::bring_in(std::span<const GridLines> matrices, Arithmetic arithmetic) {
    const auto parts = at(row_parts_of(arithmetic)), column = at(rows_), part = column * at(columns_);
    std::vector<double> entries(matrices.size() * parts * part, 0.0);
    double *to = entries.data();
    for (const GridLines &lines : matrices) {
        const CountedColumns view = lines.view();
        const std::array<const double *, 4> all{view.re, view.re_low, view.im, view.im_low};
        for (std::size_t k = 0; k < 4; ++k) {
            if ((k >= 2 && !is_complex_) || (k % 2 == 1 && !has_two_grids(arithmetic))) continue;
            if (all[k])
                for (int j = 0; j < columns_; ++j)
                    std::copy_n(all[k] + std::ptrdiff_t{j} * view.stride, column, to + at(j) * column);
            to += part;
        }
    }
    entries_.reserve(entries.size() * sizeof(double));
    queue_.copy_in(entries_.address(), entries.data(), entries.size() * sizeof(double));
}

std::vector<LineSums> GradientsOnDevice::run(std::span<const GridLines> matrices, RunControl &control) {
    const Arithmetic a = arithmetic(std::any_of(
        matrices.begin(), matrices.end(), [](const GridLines &lines) { return lines.view().is_split(); }));
    queue_.load(gradient_kernel(rows_, a));
    bring_in(matrices, a);

    const std::uint64_t tasks = matrices.size() * tasks_;
    const double piece_seconds = seconds_ / static_cast<double>(tasks_ * per_task_);
    const auto short_enough = static_cast<std::uint64_t>(
        std::clamp(launch_seconds / (piece_seconds * static_cast<double>(tasks)), 1.0, 0x1p40));
    const std::uint64_t count =
        std::clamp<std::uint64_t>(std::min<std::uint64_t>(most_pieces_ / tasks, short_enough), 1, per_task_);
    const auto most_warps = (tasks_ * count + 1) / at(gradient_pieces_of_warp(a));
    const unsigned threads =
        queue_.block_threads(32 * static_cast<unsigned>(std::clamp<std::uint64_t>(most_warps, 1, 4)));
    const std::size_t shared = gradient_shared_bytes(rows_, a, threads),
                      pieces_of_block = threads / 32 * at(gradient_pieces_of_warp(a)),
                      task_bytes = 8 * gradient_task_doubles(rows_, columns_, a);
    queue_.allow_shared(gradient_entry, gradient_shared_bytes(rows_, a, gradient_threads_of_block));
    const auto groups = matrices.size() * ((tasks_ * count + pieces_of_block - 1) / pieces_of_block);
    const auto blocks = static_cast<unsigned>(
        std::min<std::uint64_t>(groups, queue_.blocks_at_once(gradient_entry, threads, shared)));
    scratch_.reserve(8 * gradient_scratch_doubles(rows_, a) * blocks * pieces_of_block);
    pieces_.reserve(8 * gradient_piece_doubles(rows_, a) * tasks * count);
    sums_.reserve(task_bytes * tasks);

    int repeated = 0;
    for (int i = 0; i < rows_; ++i)
        if (row_count_[at(i)] > 1) repeated = i + 1;
    const std::uint64_t adders = tasks * gradient_task_sums(rows_, columns_, a);
    const unsigned adding = queue_.block_threads(gradient_threads_of_block);
    for (std::uint64_t first = 0; first < per_task_; first += count) {
        GradientLaunch launch{entries_.address(),
                              counts_.address(),
                              scratch_.address(),
                              pieces_.address(),
                              sums_.address(),
                              per_task_,
                              first,
                              std::min(count, per_task_ - first),
                              static_cast<std::uint32_t>(matrices.size()),
                              static_cast<std::uint32_t>(tasks_),
                              static_cast<std::uint32_t>(columns_),
                              static_cast<std::uint32_t>(repeated)};
        const std::array<void *, 1> arguments{&launch};
        queue_.launch(gradient_entry, blocks, threads, arguments, shared);
        queue_.launch(gradient_add_entry, static_cast<unsigned>((adders + adding - 1) / adding), adding,
                      arguments);
        queue_.wait();
        control.advance(piece_seconds * static_cast<double>(tasks * launch.count));
    }

    std::vector<double> told(task_bytes / 8 * tasks);
    queue_.copy_out(told.data(), sums_.address(), told.size() * sizeof(double));
    std::vector<LineSums> all;
    all.reserve(matrices.size());
    for (std::size_t m = 0; m < matrices.size(); ++m)
        all.push_back(added_up(told.data() + m * tasks_ * (task_bytes / 8)));
    return all;
}

// The tasks' sums in their order, as lib/minors/tasks.hpp has it.
LineSums GradientsOnDevice::added_up(const double *tasks) const {
    LineSums all(rows_, columns_, is_complex_);
    const auto rows = at(rows_);
    const auto read = [&](LineSums &to) {
        for (int j = 0; j < columns_; ++j)
            for (int part = 0; part < (is_complex_ ? 2 : 1); ++part) {
                std::copy_n(tasks, rows, to.sums(part, j));
                std::copy_n(tasks + rows, rows, to.rests(part, j));
                tasks += 2 * rows;
            }
        std::copy_n(tasks, rows, to.mass());
        tasks += rows;
        to.whole.re = *tasks++;
        to.whole.re_rest = *tasks++;
        if (is_complex_) {
            to.whole.im = *tasks++;
            to.whole.im_rest = *tasks++;
        }
        to.whole.mass = *tasks++;
    };
    if (tasks_ == 1) {
        read(all);
        return all;
    }
    for (std::uint64_t task = 0; task < tasks_; ++task) {
        LineSums part(rows_, columns_, is_complex_);
        read(part);
        all.add(part);
        add(part.whole, all.whole);
    }
    return all;
}

std::int64_t GradientsOnDevice::peak_bytes() const {
    std::size_t bytes = 0;
    for (const DeviceArray *array : {&entries_, &counts_, &scratch_, &pieces_, &sums_})
        bytes += array->bytes();
    return static_cast<std::int64_t>(bytes);
}

} // namespace libperm
