#include "lib/glynn/minors/dense_minors.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/system.hpp"
#include "lib/base/threads.hpp"
#include "lib/glynn/minors/dense_matrices.hpp"
#include "lib/glynn/minors/gradient_sums.hpp"
#include "lib/glynn/minors/left_out_on_device.hpp"
#include "lib/glynn/minors/minor_sums.hpp"
#include "lib/run/gpu_device.hpp"
#include "lib/run/gpu_queues.hpp"
#include "lib/run/numbered_sum.hpp"
#include "lib/run/placement.hpp"
#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace libperm {
namespace {

constexpr std::int64_t most_lines = most_summed_kinds;
constexpr std::uint64_t matrices_at_once = 16;
constexpr double long_enough = 1e-3; // seconds of a matrix, to be shared by threads

void require_lines(const DenseSide &side, const char *what) {
    if (side.kinds() > most_lines)
        throw Error(
            PERM_UNSUPPORTED,
            formatted("{} {} are more than the {} that sums over subsets are made of; of a sparse matrix "
                      "perm_plan_gradient has its derivatives",
                      side.kinds(), what, most_lines));
}

void require_square(const DenseSide &rows, const DenseSide &columns) {
    if (rows.total != columns.total)
        throw Error(
            PERM_BAD_MATRIX,
            formatted("{} x {}{} is not square: perm_plan_gradient has the derivatives of other shapes",
                      rows.total, columns.total,
                      rows.is_counted || columns.is_counted ? ", multiplicities counted," : ""));
}

void require_gradient_order(const DenseSide &columns) {
    if (columns.total > most_gradient_order)
        throw Error(PERM_UNSUPPORTED,
                    formatted("n = {} is more than the {} that sums over signs are made for; of a "
                              "sparse matrix perm_plan_gradient has the derivatives",
                              columns.total, most_gradient_order));
}

void require_time(double seconds, double all, const Options &options) {
    if (all > options.refuse_seconds)
        throw refused_for_time(seconds < all ? "in all it is" : "it is", all, options);
}

// work(matrix, threads) for each, side by side where one is done in a moment.
template <class Work>
void for_each_matrix(std::int64_t count, double seconds, const Options &options, RunControl &control,
                     const Work &work) {
    const double all = seconds * static_cast<double>(count);
    require_time(seconds, all / options.threads, options);
    control.poll();
    control.begin(all, all / options.threads);
    if (count == 1 || seconds > long_enough) {
        for (std::int64_t m = 0; m < count; ++m) {
            RunControl part(control, 1);
            work(m, seconds > 1e-4 ? options.threads : 1, part);
        }
        return;
    }
    run_pieces(NumberedPieces::of_length(at(count), matrices_at_once), all > 1e-4 ? options.threads : 1,
               [&](std::uint64_t, NumberRange some) {
                   RunControl none;
                   for (std::uint64_t m = some.first; m < some.last; ++m)
                       work(static_cast<std::int64_t>(m), 1, none);
                   control.advance(seconds * some.size());
               });
}

// By the CPU's threads or the GPU, which sum the same: Sums of the lines that read(m, lines) has read, told
// by tell(m, sums). `seconds`: of a matrix, on one thread.
template <class Sums> class DenseRun {
  public:
    DenseRun(LeftOutShape shape, std::int64_t count, double seconds, const Options &options,
             RunControl &control)
        : shape_(std::move(shape)), count_(count), seconds_(seconds), options_(options), control_(control) {}

    template <class Read, class Tell> void run(const Read &read, const Tell &tell) const {
        const double all = seconds_ * static_cast<double>(count_) / options_.threads;
        const bool is_told = goes_to_gpu(options_, shape_, count_, all) &&
                             run_on_gpu(left_out_work, options_, [&] { on_gpu(read, tell); });
        if (!is_told)
            for_each_matrix(count_, seconds_, options_, control_,
                            [&](std::int64_t m, int threads, RunControl &part) {
                                GridMatrix lines = new_lines();
                                read(m, lines);
                                tell(m, Sums(lines, threads, part));
                            });
    }

  private:
    GridMatrix new_lines() const { return {shape_.row_count, shape_.column_count, shape_.is_complex}; }

    template <class Read, class Tell> void on_gpu(const Read &read, const Tell &tell) const {
        GpuQueues queues(options_);
        DeviceQueue &queue = queues.first();
        LeftOutOnDevice device(queue, shape_, left_out_seconds(shape_, the_gpu()->properties()));
        const double seconds = device.seconds_of_matrix(), all = seconds * static_cast<double>(count_);
        require_time(seconds, all, options_);
        control_.poll();
        control_.begin(all, all);
        const auto at_once = static_cast<std::int64_t>(device.at_once());
        with_threads(options_.threads, [&] {
            for (std::int64_t first = 0; first < count_; first += at_once) {
                std::vector<GridMatrix> lines;
                while (std::ssize(lines) < std::min(at_once, count_ - first)) lines.push_back(new_lines());
                parallel_for(lines.size(),
                             [&](std::uint64_t k) { read(first + static_cast<std::int64_t>(k), lines[k]); });
                std::vector<LineSums> sums = device.run(lines, control_);
                parallel_for(lines.size(), [&](std::uint64_t k) {
                    tell(first + static_cast<std::int64_t>(k), Sums(lines[k], std::move(sums[k])));
                });
            }
        });
    }

    const LeftOutShape shape_;
    const std::int64_t count_;
    const double seconds_;
    const Options &options_;
    RunControl &control_;
};

double terms_of(const DenseSide &side) {
    return std::accumulate(side.count.begin(), side.count.end(), 0.5,
                           [](double terms, int count) { return terms * (count + 1); });
}

} // namespace

void compute_sub_permanents(const perm_dense *a, const Options &options, RunControl &control,
                            void *sub_permanents, double *error_bounds) {
    const DenseMatrices matrices(a);
    DenseSide rows = matrices.rows(), columns = matrices.columns();
    const bool by_rows = rows.total == columns.total + 1;
    if (!by_rows && columns.total != rows.total + 1)
        throw Error(
            PERM_BAD_MATRIX,
            formatted("sub-permanents are of a matrix with one line more one way than the other, not of "
                      "{} x {}{}",
                      rows.total, columns.total,
                      rows.is_counted || columns.is_counted ? ", multiplicities counted" : ""));
    require_lines(rows, "rows");
    require_lines(columns, "columns");
    const DenseSide &left = by_rows ? rows : columns;
    DenseSide summed = by_rows ? columns : rows;
    summed.sort();
    if (summed.kinds() > 0 && summed.count.front() > most_of_kind)
        throw Error(PERM_UNSUPPORTED,
                    formatted("a line that is not left out stands {} times: {} are the most",
                              summed.count.front(), most_of_kind));
    const std::int64_t lines = by_rows ? a->n_rows : a->n_cols;
    if (matrices.count() > 0 && !sub_permanents)
        throw Error(PERM_BAD_ARGUMENT, "the place for the sub-permanents is a null pointer");
    const std::size_t parts = matrices.parts();
    auto *const out = static_cast<double *>(sub_permanents);
    std::fill_n(out, at(matrices.count() * lines) * parts, 0.0);
    if (error_bounds) std::fill_n(error_bounds, at(matrices.count() * lines), 0.0);
    if (summed.kinds() == 0) { // of one line: the permanent of nothing
        for (std::int64_t m = 0; m < matrices.count(); ++m) out[at(m * lines + left.line[0]) * parts] = 1;
        return;
    }
    const double seconds = 1e-6 + minor_seconds(left.kinds(), terms_of(summed), matrices.is_complex());
    DenseRun<MinorSums>({LeftOut::minors, left.count, summed.count, matrices.is_complex()}, matrices.count(),
                        seconds, options, control)
        .run(
            [&](std::int64_t m, GridMatrix &grid) {
                matrices.read(m, left, summed, !by_rows, grid);
                grid.fix();
            },
            [&](std::int64_t m, const MinorSums &sums) {
                for (int i = 0; i < left.kinds(); ++i) {
                    const std::size_t to = at(m * lines + left.line[at(i)]);
                    const double bound = sums.put(i, out + to * parts);
                    if (error_bounds) error_bounds[to] = bound;
                }
            });
}

void compute_gradients(const perm_dense *a, const Options &options, RunControl &control, void *gradients,
                       double *error_bounds, void *permanents, double *permanent_bounds) {
    const DenseMatrices matrices(a);
    DenseSide rows = matrices.rows(), columns = matrices.columns();
    require_square(rows, columns);
    if (matrices.count() > 0 && matrices.entries() > 0 && !gradients)
        throw Error(PERM_BAD_ARGUMENT, "the place for the gradients is a null pointer");
    // Copies of a row cost a power, those of a column a column.
    const bool is_transposed = rows.kinds() < columns.kinds();
    if (is_transposed) std::swap(rows, columns);
    require_gradient_order(columns);
    const std::vector<int> column_count = columns.count;
    const std::vector<std::int64_t> column_line = columns.line;
    std::vector<std::size_t> first_copy(column_line.size());
    for (std::size_t k = 1; k < first_copy.size(); ++k)
        first_copy[k] = first_copy[k - 1] + at(column_count[k - 1]);
    columns.write_out();
    const int n = columns_for_gradient(static_cast<int>(columns.total));
    const int ones = n - static_cast<int>(columns.total);
    std::vector<int> row_count = rows.count, ones_of_columns(at(n), 1);
    row_count.insert(row_count.end(), at(ones), 1);

    const std::size_t parts = matrices.parts();
    auto *const out = static_cast<double *>(gradients), *const whole = static_cast<double *>(permanents);
    std::fill_n(out, at(matrices.count() * matrices.entries()) * parts, 0.0);
    if (error_bounds) std::fill_n(error_bounds, at(matrices.count() * matrices.entries()), 0.0);
    const auto read = [&](std::int64_t m, GridMatrix &grid) {
        matrices.read(m, rows, columns, is_transposed, grid);
        for (int k = 0; k < ones; ++k) grid.set(rows.kinds() + k, static_cast<int>(columns.total) + k, 1);
        grid.fix();
    };
    const auto tell = [&](std::int64_t m, const GradientSums &sums) {
        for (int i = 0; i < rows.kinds(); ++i)
            for (std::size_t j = 0; j < column_line.size(); ++j) {
                const std::int64_t x = rows.line[at(i)], y = column_line[j];
                const std::size_t to =
                    at(m * matrices.entries() + (is_transposed ? y * a->n_cols + x : x * a->n_cols + y));
                const double bound =
                    sums.put(i, static_cast<int>(first_copy[j]),
                             rows.count[at(i)] * double{1} * column_count[j], 0, out + to * parts);
                if (error_bounds) error_bounds[to] = bound;
            }
        double unwanted[2];
        const double bound = sums.put_permanent(whole ? whole + at(m) * parts : unwanted);
        if (permanent_bounds) permanent_bounds[m] = bound;
    };
    const int kinds = static_cast<int>(row_count.size());
    const bool complex = matrices.is_complex();
    control.memory().take(gradient_bytes(kinds, n, complex, options.threads));
    DenseRun<GradientSums>({LeftOut::gradients, row_count, ones_of_columns, complex}, matrices.count(),
                           1e-6 + gradient_seconds(kinds, n, complex), options, control)
        .run(read, tell);
}

} // namespace libperm
