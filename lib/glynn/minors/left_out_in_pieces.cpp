#include "lib/glynn/minors/left_out_in_pieces.hpp"

#include "jit/lanes/count_sum.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/input/options.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/placement.hpp"
#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
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

namespace {

constexpr std::uint64_t most_tasks = 1 << 12;       // that are pieces by themselves
constexpr std::uint64_t most_pieces = 1 << 16;      // of whole matrices
constexpr double least_seconds = 0.01;              // of a piece of these, and of a shard
constexpr std::uint64_t bytes_of_round = 128 << 20; // of sums
constexpr double seconds_between_parts = 1;         // of a device's, where they are kept

// The tasks in their order; one alone stays as it is.
LineSums added_up(std::span<const LineSums> tasks, const LeftOutShape &shape) {
    if (tasks.size() == 1) return tasks.front();
    LineSums all = shape.no_sums();
    for (const LineSums &task : tasks) add_task(task, all);
    return all;
}

// What a piece comes to: of its task, or of each of its matrices.
struct LeftOutPart {
    std::vector<LineSums> sums;
};

template <class Archive> void fields(Archive &ar, LeftOutPart &part) {
    for (LineSums &one : part.sums) {
        TermSum &whole = one.whole;
        for (const std::span<double> table : {one.all_sums(), one.all_masses()})
            ar(cereal::binary_data(table.data(), table.size_bytes()));
        ar(whole.re, whole.re_rest, whole.im, whole.im_rest);
        amounts(ar, whole.mass);
        require_read<Archive>(std::ranges::all_of(one.all_masses(), [](double mass) { return mass >= 0; }),
                              "a sum of absolute values");
    }
}

} // namespace

LeftOutPieces::LeftOutPieces(LeftOutShape shape, std::int64_t count, double seconds)
    : shape_(std::move(shape)), count_(count), seconds_(seconds), tasks_(shape_.share().in_tasks()) {
    const auto matrices = static_cast<std::uint64_t>(count_);
    if (tasks_.count() > 1 && matrices <= most_tasks / tasks_.count()) {
        pieces_of_round_ = std::max<std::uint64_t>(matrices * tasks_.count(), 1);
        return;
    }
    const auto worth_one = static_cast<std::uint64_t>(std::ceil(least_seconds / seconds_));
    matrices_of_piece_ = std::clamp(worth_one, (matrices + most_pieces - 1) / most_pieces,
                                    std::max<std::uint64_t>(matrices, 1));
    const auto bytes = static_cast<std::uint64_t>(shape_.no_sums().bytes());
    pieces_of_round_ = std::max<std::uint64_t>(bytes_of_round / (bytes * matrices_of_piece_), 1);
}

std::uint64_t LeftOutPieces::count() const {
    const auto matrices = static_cast<std::uint64_t>(count_);
    return is_by_task() ? matrices * tasks_.count()
                        : NumberedPieces::of_length(matrices, matrices_of_piece_).count();
}

ShardCount LeftOutPieces::shards() const {
    return shards_of(seconds_ * static_cast<double>(count_),
                     static_cast<double>(std::min(count(), most_pieces)), least_seconds);
}

// Pieces first .. first + count() - 1 of all.
class LeftOutPieces::Round {
  public:
    Round(const LeftOutPieces &of, const Matrices &matrices, std::uint64_t first)
        : of_(of), matrices_(matrices), first_(first) {}

    std::uint64_t count() const { return std::min(of_.pieces_of_round_, of_.count() - first_); }
    LeftOutPart nothing() const {
        return {{of_.is_by_task() ? 1 : of_.matrices_of_piece_, of_.shape_.no_sums()}};
    }

    // Piece k's matrices, and which of their tasks.
    NumberRange matrices_of(std::uint64_t k) const {
        const std::uint64_t number = first_ + k, tasks = of_.tasks_.count();
        if (of_.is_by_task()) return {number / tasks, number / tasks + 1};
        return NumberedPieces::of_length(static_cast<std::uint64_t>(of_.count_),
                                         of_.matrices_of_piece_)[number];
    }
    NumberRange tasks_of(std::uint64_t k) const {
        const std::uint64_t tasks = of_.tasks_.count(), task = (first_ + k) % tasks;
        return of_.is_by_task() ? NumberRange{task, task + 1} : NumberRange{0, tasks};
    }

    GridMatrix lines(std::uint64_t m) const {
        GridMatrix lines = of_.shape_.no_lines();
        matrices_.read(static_cast<std::int64_t>(m), lines);
        return lines;
    }

    LeftOutPart on_processor(std::uint64_t k) const {
        LeftOutPart part = nothing();
        const NumberRange matrices = matrices_of(k), tasks = tasks_of(k);
        for (std::uint64_t m = matrices.first; m < matrices.last; ++m) {
            const GridMatrix own = lines(m);
            std::vector<LineSums> sums;
            for (std::uint64_t t = tasks.first; t < tasks.last; ++t)
                sums.push_back(sums_of_task(of_.shape_, own, of_.tasks_[t]));
            part.sums[m - matrices.first] = added_up(sums, of_.shape_);
        }
        return part;
    }

    void tell(std::span<const LeftOutPart> parts) const {
        const std::uint64_t tasks = of_.is_by_task() ? of_.tasks_.count() : 1;
        parallel_for(parts.size() / tasks, [&](std::uint64_t k) {
            const NumberRange matrices = matrices_of(k * tasks);
            for (std::uint64_t m = matrices.first; m < matrices.last; ++m) {
                std::vector<LineSums> sums;
                for (const LeftOutPart &part : parts.subspan(k * tasks, tasks))
                    sums.push_back(part.sums[m - matrices.first]);
                matrices_.tell(static_cast<std::int64_t>(m), lines(m), added_up(sums, of_.shape_));
            }
        });
    }

  private:
    const LeftOutPieces &of_;
    const Matrices &matrices_;
    const std::uint64_t first_;
};

class LeftOutPieces::OnDevices {
  public:
    OnDevices(const LeftOutPieces &of, const DeviceQueues &queues, double seconds, int threads)
        : of_(of), seconds_(seconds), threads_(threads), devices_(queues, [this](DeviceQueue &queue) {
              return std::make_unique<LeftOutOnDevice>(queue, of_.shape_, seconds_);
          }) {}

    template <class Done>
    void run(const Round &round, std::span<const std::uint64_t> todo, const Done &done) {
        const int threads = std::max(threads_ / static_cast<int>(devices_.count()), 1);
        devices_.share(
            todo, [&](const LeftOutOnDevice &device) { return at_once(device); },
            [&](LeftOutOnDevice &device, std::span<const std::uint64_t> pieces) {
                with_threads(threads, [&] { run_on(device, round, pieces, done); });
            });
    }

    std::int64_t peak_bytes() const { return devices_.peak_bytes(); }

  private:
    std::uint64_t at_once(const LeftOutOnDevice &device) const {
        const double each = of_.piece_seconds(seconds_);
        const double in_time = call().pieces().store ? seconds_between_parts / each : 0x1p40;
        const double that_fit = of_.is_by_task() ? 0x1p40
                                                 : static_cast<double>(device.at_once()) /
                                                       static_cast<double>(of_.matrices_of_piece_);
        return static_cast<std::uint64_t>(std::max(std::min(in_time, that_fit), 1.0));
    }

    // Consecutive ones, of a task of one matrix, together.
    template <class Done>
    void run_on(LeftOutOnDevice &device, const Round &round, std::span<const std::uint64_t> pieces,
                const Done &done) {
        for (std::size_t k = 0, end = 0; k < pieces.size(); k = end) {
            call().begin_piece();
            const NumberRange matrices = round.matrices_of(pieces[k]);
            for (end = k + 1; of_.is_by_task() && end < pieces.size() &&
                              pieces[end] == pieces[k] + (end - k) &&
                              round.matrices_of(pieces[end]).first == matrices.first;)
                ++end;
            const NumberRange tasks{round.tasks_of(pieces[k]).first, round.tasks_of(pieces[end - 1]).last};
            std::vector<LineSums> sums = sums_on(device, round, matrices, tasks);
            const std::size_t each = sums.size() / (end - k);
            for (std::size_t i = k; i < end; ++i) {
                LeftOutPart part = round.nothing();
                std::move(sums.begin() + static_cast<std::ptrdiff_t>((i - k) * each),
                          sums.begin() + static_cast<std::ptrdiff_t>((i + 1 - k) * each), part.sums.begin());
                done(pieces[i], std::move(part));
            }
        }
    }

    // Of each task, or of each matrix.
    std::vector<LineSums> sums_on(LeftOutOnDevice &device, const Round &round, NumberRange matrices,
                                  NumberRange tasks) const {
        std::vector<LineSums> all;
        for (std::uint64_t first = matrices.first; first < matrices.last; first += device.at_once()) {
            std::vector<GridMatrix> lines;
            const std::uint64_t end = std::min<std::uint64_t>(first + device.at_once(), matrices.last);
            for (std::uint64_t m = first; m < end; ++m) lines.push_back(round.lines(m));
            const std::vector<LineSums> sums = device.run(lines, tasks);
            if (of_.is_by_task()) return sums;
            const std::size_t of_one = sums.size() / lines.size();
            for (std::size_t k = 0; k < lines.size(); ++k)
                all.push_back(added_up(std::span(sums).subspan(k * of_one, of_one), of_.shape_));
        }
        return all;
    }

    const LeftOutPieces &of_;
    const double seconds_; // of a matrix on a device
    const int threads_;
    OnEachDevice<LeftOutOnDevice> devices_;
};

double LeftOutPieces::piece_seconds(double of_matrix) const {
    return is_by_task() ? of_matrix / static_cast<double>(tasks_.count())
                        : of_matrix * static_cast<double>(matrices_of_piece_);
}

std::int64_t LeftOutPieces::run(const Matrices &matrices, const LeftOutDevices &where) const {
    const std::uint64_t pieces = count();
    std::optional<OnDevices> devices;
    if (where.queues) devices.emplace(*this, *where.queues, where.seconds, where.threads);
    PieceScope scope = call().pieces();
    for (std::uint64_t first = 0; first < pieces; first += pieces_of_round_, ++scope.task.block) {
        CurrentCall own(1, scope);
        const Round round(*this, matrices, first);
        const Charge held(&call().memory(), static_cast<std::int64_t>(round.count()) *
                                                std::ssize(round.nothing().sums) * shape_.no_sums().bytes());
        const auto one = [&](std::uint64_t k) { return round.on_processor(k); };
        const std::vector<LeftOutPart> parts =
            parts_of_pieces(round.count(), piece_seconds(devices ? where.seconds : seconds_), round.nothing(),
                            [&](std::span<const std::uint64_t> todo, const auto &done) {
                                if (devices)
                                    devices->run(round, todo, done);
                                else
                                    each_on_its_thread(one)(todo, done);
                            });
        if (!scope.store || !scope.store->is_of_one_shard()) round.tell(parts);
    }
    return devices ? devices->peak_bytes() : 0;
}

} // namespace libperm
