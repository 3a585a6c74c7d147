#include "lib/glynn/minors/dense_minors.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/base/system.hpp"
#include "lib/base/threads.hpp"
#include "lib/input/input_pattern.hpp"
#include "lib/input/matrix.hpp"
#include "lib/run/gpu_device.hpp"
#include "lib/run/numbered_sum.hpp"
#include "lib/run/placement.hpp"
#include "preprocess/index.hpp"

#include <cmath>
#include <numeric>
#include <utility>

namespace libperm {

DenseSide::DenseSide(std::int64_t lines, const std::int64_t *multiplicity, const char *what)
    : is_counted(multiplicity != nullptr) {
    const LineCounts copies(multiplicity, lines, what);
    total = copies.sum();
    for (std::int64_t i = 0; i < lines; ++i) {
        if (copies[i] == 0) continue;
        count.push_back(static_cast<int>(std::min<std::int64_t>(copies[i], 1 << 30)));
        line.push_back(i);
    }
}

void DenseSide::sort() {
    std::vector<std::size_t> order(count.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t x, std::size_t y) { return count[x] > count[y]; });
    DenseSide sorted = *this;
    for (std::size_t k = 0; k < order.size(); ++k) {
        sorted.count[k] = count[order[k]];
        sorted.line[k] = line[order[k]];
    }
    *this = std::move(sorted);
}

DenseMatrices::DenseMatrices(const perm_dense *a)
    : a_(require_dense(a)), is_complex_(a->value_type == PERM_VALUE_C128) {
    require_values();
}

void DenseMatrices::read(std::int64_t m, const std::vector<std::int64_t> &down,
                         const std::vector<std::int64_t> &across, bool is_transposed,
                         GridMatrix &lines) const {
    const std::int64_t first = m * entries();
    for (int i = 0; i < std::ssize(down); ++i)
        for (int j = 0; j < std::ssize(across); ++j) {
            const std::int64_t x = down[at(i)], y = across[at(j)],
                               k = first + (is_transposed ? y * a_.n_cols + x : x * a_.n_cols + y);
            if (is_complex_) {
                lines.set(i, j, real(2 * k), real(2 * k + 1));
            } else if (a_.value_type == PERM_VALUE_I64) {
                lines.set(i, j, integer(k));
                if (std::fabs(integer(k)) >= 0x1p53) lines.tell_rounded(); // 2^53 + 1 is 2^53
            } else {
                lines.set(i, j, real(k));
            }
        }
}

std::string DenseMatrices::digest() const {
    const auto counts = [](const std::int64_t *multiplicity, std::int64_t lines) {
        return multiplicity ? std::vector(multiplicity, multiplicity + lines) : std::vector<std::int64_t>();
    };
    const std::size_t bytes = at(a_.count * entries()) * bytes_of_value(a_);
    std::string all = written(std::vector<std::int64_t>{a_.n_rows, a_.n_cols, a_.count, a_.value_type}) +
                      written(counts(a_.row_multiplicity, a_.n_rows)) +
                      written(counts(a_.col_multiplicity, a_.n_cols));
    if (bytes > 0) all.append(static_cast<const char *>(a_.values), bytes);
    return digest_of_bytes(all);
}

void DenseMatrices::require_values() const {
    const std::int64_t numbers = a_.count * entries();
    if (numbers > 0 && !a_.values) throw Error(PERM_BAD_ARGUMENT, "the values are a null pointer");
    if (a_.value_type == PERM_VALUE_I64) return;
    const std::int64_t per = static_cast<std::int64_t>(parts());
    for (std::int64_t k = 0; k < numbers * per; ++k)
        if (!std::isfinite(real(k)))
            throw Error(PERM_BAD_MATRIX, formatted("entry {} is {}", place(k / per),
                                                   std::isnan(real(k)) ? "not a number" : "infinite"));
}

std::string DenseMatrices::place(std::int64_t k) const {
    const std::int64_t in = k % entries();
    const std::string entry = formatted("({}, {})", in / a_.n_cols, in % a_.n_cols);
    return a_.count == 1 ? entry : formatted("{} of matrix {}", entry, k / entries());
}

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
void for_each_matrix(std::int64_t count, double seconds, const Options &options, const Work &work) {
    const double all = seconds * static_cast<double>(count);
    require_time(seconds, all / options.threads, options);
    poll();
    call().begin(all, all / options.threads);
    if (count == 1 || seconds > long_enough) {
        for (std::int64_t m = 0; m < count; ++m) work(m, seconds > 1e-4 ? options.threads : 1);
        return;
    }
    run_pieces(NumberedPieces::of_length(at(count), matrices_at_once), all > 1e-4 ? options.threads : 1,
               [&](std::uint64_t, NumberRange some) {
                   uncounted([&] {
                       for (std::uint64_t m = some.first; m < some.last; ++m)
                           work(static_cast<std::int64_t>(m), 1);
                   });
                   call().advance(seconds * some.size());
               });
}

} // namespace

ShardCount DenseMinors::shards() const {
    return count() == 0 || shape_.columns() == 0 ? ShardCount{}
                                                 : LeftOutPieces(shape_, count(), seconds_).shards();
}

// By the CPU's threads or GPUs, which sum the same.
void DenseMinors::run(const Options &options, const MinorPlaces &to) const {
    const bool gradients = what() == LeftOut::gradients;
    if (numbers() > 0 && !to.numbers)
        throw Error(PERM_BAD_ARGUMENT, formatted("the place for the {} is a null pointer",
                                                 gradients ? "gradients" : "sub-permanents"));
    std::fill_n(to.numbers, at(numbers()) * parts(), 0.0);
    if (to.bounds) std::fill_n(to.bounds, at(numbers()), 0.0);
    if (shape_.columns() == 0) { // of one line: the permanent of nothing
        for (std::int64_t m = 0; m < count(); ++m)
            to.numbers[at(m * numbers_of_each_ + left_.line[0]) * parts()] = 1;
        return;
    }
    if (gradients) call().memory().take(shape_.bytes(options.threads));
    const auto on_gpus = [&] {
        GpuQueues queues(options);
        const DeviceQueues all = queues.when_needed();
        const PlanMachine machine(options);
        in_pieces(options, to, {&all, left_out_seconds(shape_, machine.gpu()), options.threads},
                  machine.gpu_count());
    };
    const double all = seconds_ * static_cast<double>(count()) / options.threads;
    if (goes_to_gpu(options, shape_, count(), all) && run_on_gpu(left_out_work, options, on_gpus)) return;
    if (call().pieces().store) return in_pieces(options, to, {}, options.threads);
    for_each_matrix(count(), seconds_, options, [&](std::int64_t m, int threads) {
        GridMatrix lines = shape_.no_lines();
        read(m, lines);
        tell(m, LeftOutSums(shape_, lines, threads), to);
    });
}

// `workers`: threads, or devices.
void DenseMinors::in_pieces(const Options &options, const MinorPlaces &to, const LeftOutDevices &devices,
                            int workers) const {
    const double seconds = devices.queues ? devices.seconds : seconds_,
                 all = call().pieces().share() * seconds * static_cast<double>(count());
    require_time(seconds, all / workers, options);
    poll();
    call().begin(all, all / workers);
    with_threads(options.threads, [&] {
        LeftOutPieces(shape_, count(), seconds_)
            .run({[&](std::int64_t m, GridMatrix &lines) { read(m, lines); },
                  [&](std::int64_t m, const GridMatrix &lines, LineSums sums) {
                      tell(m, LeftOutSums(shape_.what, lines, std::move(sums)), to);
                  }},
                 devices);
    });
}

DenseMinors::DenseMinors(LeftOut what, const perm_dense *a)
    : matrices_(a), left_(matrices_.rows()), summed_(matrices_.columns()), n_cols_(a->n_cols) {
    if (what == LeftOut::minors)
        leave_out_lines(*a);
    else
        leave_out_entries(*a);
    shape_.is_complex = matrices_.is_complex();
    seconds_ = 1e-6 + shape_.seconds();
}

void DenseMinors::leave_out_lines(const perm_dense &a) {
    is_transposed_ = left_.total != summed_.total + 1;
    if (is_transposed_ && summed_.total != left_.total + 1)
        throw Error(
            PERM_BAD_MATRIX,
            formatted("sub-permanents are of a matrix with one line more one way than the other, not of "
                      "{} x {}{}",
                      left_.total, summed_.total,
                      left_.is_counted || summed_.is_counted ? ", multiplicities counted" : ""));
    require_lines(left_, "rows");
    require_lines(summed_, "columns");
    if (is_transposed_) std::swap(left_, summed_);
    summed_.sort();
    if (summed_.kinds() > 0 && summed_.count.front() > most_of_kind)
        throw Error(PERM_UNSUPPORTED,
                    formatted("a line that is not left out stands {} times: {} are the most",
                              summed_.count.front(), most_of_kind));
    across_ = summed_.line;
    shape_ = {LeftOut::minors, left_.count, summed_.count, false};
    numbers_of_each_ = is_transposed_ ? a.n_cols : a.n_rows;
}

void DenseMinors::leave_out_entries(const perm_dense &a) {
    require_square(left_, summed_);
    // Copies of a row cost a power, those of a column a column.
    is_transposed_ = left_.kinds() < summed_.kinds();
    if (is_transposed_) std::swap(left_, summed_);
    require_gradient_order(summed_);
    for (std::size_t j = 0; j < summed_.line.size(); ++j)
        across_.insert(across_.end(), at(summed_.count[j]), summed_.line[j]);
    const int n = columns_for_gradient(static_cast<int>(summed_.total));
    ones_ = n - static_cast<int>(summed_.total);
    shape_ = {LeftOut::gradients, left_.count, std::vector<int>(at(n), 1), false};
    shape_.row_count.insert(shape_.row_count.end(), at(ones_), 1);
    numbers_of_each_ = a.n_rows * a.n_cols;
}

void DenseMinors::read(std::int64_t m, GridMatrix &grid) const {
    matrices_.read(m, left_.line, across_, is_transposed_, grid);
    for (int k = 0; k < ones_; ++k) grid.set(left_.kinds() + k, static_cast<int>(summed_.total) + k, 1);
    grid.fix();
}

void DenseMinors::tell(std::int64_t m, const LeftOutSums &sums, const MinorPlaces &to) const {
    const auto put = [&](int i, int j, double factor, std::int64_t place) {
        const std::size_t k = at(m * numbers_of_each_ + place);
        const double bound = sums.put(i, j, factor, 0, to.numbers + k * parts());
        if (to.bounds) to.bounds[k] = bound;
    };
    if (what() == LeftOut::minors) {
        for (int i = 0; i < left_.kinds(); ++i) put(i, 0, 1, left_.line[at(i)]);
        return;
    }
    int first_copy = 0;
    for (std::size_t j = 0; j < summed_.line.size(); first_copy += summed_.count[j++])
        for (int i = 0; i < left_.kinds(); ++i) {
            const std::int64_t x = left_.line[at(i)], y = summed_.line[j];
            put(i, first_copy, left_.count[at(i)] * double{1} * summed_.count[j],
                is_transposed_ ? y * n_cols_ + x : x * n_cols_ + y);
        }
    double unwanted[2];
    const double bound = sums.put_permanent(to.permanents ? to.permanents + at(m) * parts() : unwanted);
    if (to.permanent_bounds) to.permanent_bounds[m] = bound;
}

TaskIdentity MinorsTask::identity() const {
    const bool gradients = minors_.what() == LeftOut::gradients;
    return {TaskIdentity::minors,
            {{digest_of_bytes(gradients ? "derivatives" : "sub-permanents"),
              gradients ? "sub-permanents" : "derivatives of dense matrices"},
             {minors_.matrices().digest(), "other matrices"}}};
}

KeptAbout MinorsTask::about() const {
    KeptAbout it;
    it.n = minors_.matrices().order();
    it.entries = minors_.matrices().entries() * minors_.count();
    it.way = engine_name(engine_for(Goal::dense));
    const ShardCount all = shards();
    it.seconds = all.seconds * static_cast<double>(all.count) / options_.threads;
    return it;
}

Minors MinorsTask::run(PieceStore *store, const Told &) const {
    const std::size_t numbers = at(minors_.numbers()), parts = minors_.parts(),
                      permanents = minors_.what() == LeftOut::gradients ? at(minors_.count()) : 0;
    Minors found{std::vector<double>(numbers * parts), std::vector<double>(numbers),
                 std::vector<double>(permanents * parts), std::vector<double>(permanents)};
    CurrentCall own(1, PieceScope{store, {}});
    const bool with_permanents = permanents > 0;
    minors_.run(options_, {found.numbers.data(), found.bounds.data(),
                           with_permanents ? found.permanents.data() : nullptr,
                           with_permanents ? found.permanent_bounds.data() : nullptr});
    return found;
}

} // namespace libperm
