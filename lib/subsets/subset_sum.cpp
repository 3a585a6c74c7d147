#include "lib/subsets/subset_sum.hpp"

#include "jit/compile/kernel_store.hpp"
#include "jit/driver/gpu.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/kernel/subset_source.hpp"
#include "lib/subsets/fixed_point_double.hpp"
#include "lib/subsets/fixed_point_wide.hpp"
#include "lib/subsets/launch.hpp"
#include "lib/subsets/residue_values.hpp"
#include "lib/subsets/segment_sum.hpp"
#include "lib/subsets/tree_on_cpu.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <optional>

namespace libperm {
namespace {

constexpr std::uint64_t group = segment_group;
constexpr std::uint64_t equal_window = std::uint64_t{1} << 36; // subsets
constexpr double launch_seconds = 0.2;                         // of one launch at most, as predicted

struct Shape {
    unsigned threads = 0, blocks = 0; // of a block; of all of them
    std::size_t shared = 0;
    std::uint64_t all() const { return std::uint64_t{threads} * blocks; }
};

// As many threads as the GPU can hold at once, by the driver's occupancy calculator.
Shape widest_shape(const GrayKernel &plan, const GpuKernel &kernel) {
    const GpuProperties &gpu = kernel.gpu().properties();
    const bool any_size = // the others' registers are given for one size
        plan.engine == GrayEngine::shared || rows_in_shared(plan);
    const int least = any_size ? gpu.warp : plan.threads;
    int most = plan.threads;
    while (most >= least && shared_bytes(plan, most) > gpu.shared_bytes) most -= gpu.warp;
    // Of the function, which other calls launch at the same time: all say the same.
    if (most >= least) kernel.allow_shared(shared_bytes(plan, most));
    Shape best;
    for (int threads = least; threads <= most; threads += gpu.warp) {
        const std::size_t shared = shared_bytes(plan, threads);
        const int blocks = kernel.blocks_per_multiprocessor(threads, shared) * gpu.multiprocessors;
        if (std::uint64_t{static_cast<unsigned>(threads)} * static_cast<unsigned>(blocks) > best.all())
            best = {static_cast<unsigned>(threads), static_cast<unsigned>(blocks), shared};
    }
    if (best.all() == 0)
        throw JitError(JitFailure::device, std::string("no block of engine ") +
                                               gray_engine_name(plan.engine) + " fits a multiprocessor of " +
                                               gpu.name);
    return best;
}

// The columns' beginnings, then the row of each entry.
std::vector<std::int32_t> pattern_indexes(const GrayKernel &kernel) {
    std::vector<std::int32_t> indexes(kernel.column_ptr.begin(), kernel.column_ptr.end());
    if (kernel.engine == GrayEngine::dense) {
        for (std::int32_t j = 0; j <= kernel.n; ++j) indexes.push_back(j * kernel.n);
        for (std::int32_t e = 0; e < kernel.n * kernel.n; ++e) indexes.push_back(e % kernel.n);
    }
    indexes.insert(indexes.end(), kernel.row.begin(), kernel.row.end());
    return indexes;
}

class GrayRun {
  public:
    GrayRun(const GrayPlan &plan, const std::vector<double> &values,
            const std::shared_ptr<const GpuModule> &module, double seconds, RunControl &control)
        : plan_(plan.kernel),
          rare_(plan.rare),
          partial_bytes_(static_cast<std::size_t>(partial_doubles(plan_.arithmetic)) * sizeof(double)),
          numbers_(values),
          parameters_(parameters_of(plan_, numbers_)),
          gpu_(module->gpu()),
          kernel_(module, gray_entry),
          gather_(module, gather_entry),
          control_(control),
          shape_(widest_shape(plan_, kernel_)),
          seconds_per_subset_(seconds / plan.subsets),
          stream_(gpu_),
          rows_(gpu_, static_cast<std::size_t>(global_rows(plan_) * parts_of(plan_.arithmetic)) *
                          shape_.all() * sizeof(double)),
          values_(gpu_, numbers_.size() * sizeof(double)),
          indexes_(pattern_indexes(plan_)),
          pattern_(gpu_, indexes_.size() * sizeof(std::int32_t)) {
        stream_.copy_in(values_, numbers_.data(), values_.bytes());
        stream_.copy_in(pattern_, indexes_.data(), pattern_.bytes());
        if (!sums_again(plan_)) return;
        select_.emplace(module, select_entry);
        accurate_.emplace(module, accurate_entry);
    }

    // Of windows first .. first + count - 1, or of all subsets in equal chunks.
    std::vector<GraySum> sums(std::uint64_t first, std::uint64_t count) {
        if (plan_.equal_chunks) return {run_equally()};
        const std::uint64_t window = window_segments(plan_), segments = count * window;
        make_room(segments);
        const double segment_seconds =
            std::ldexp(seconds_per_subset_ * static_cast<double>(shape_.all()), plan_.segment_bits);
        const auto longest =
            static_cast<std::uint64_t>(std::clamp(launch_seconds / segment_seconds, 1.0, 0x1p40));
        for (const GrayLaunch &launch :
             launch_parameters(first * window, (first + count) * window, shape_.all(), longest))
            start(launch, std::ldexp(static_cast<double>(launch.end - launch.first), plan_.segment_bits));
        std::vector<GraySum> sums = added_up(segments, window);
        if (rare_ == 0 || !select_) return sums;
        const std::uint64_t chosen = choose_largest(sums, window);
        if (chosen == 0) return sums;
        sum_accurately(first * window, chosen);
        return added_up(segments, window);
    }

    std::int64_t peak_bytes() const { return static_cast<std::int64_t>(rows_.bytes()) + most_bytes_; }

  private:
    GraySum run_equally() {
        const std::uint64_t subsets = std::uint64_t{1} << (plan_.n - 1);
        const std::uint64_t window = std::min(subsets, equal_window);
        make_room(shape_.all());
        GraySum total;
        for (std::uint64_t first = 0; first < subsets; first += window) {
            const std::uint64_t length = (window + shape_.all() - 1) / shape_.all();
            start({first, first + window, length, 0}, static_cast<double>(window));
            const GraySum sum = added_up(shape_.all(), shape_.all()).front();
            with_arithmetic_of(plan_.arithmetic, numbers_, [&](const auto &f) { add_window(f, total, sum); });
        }
        return total;
    }

    void make_room(std::uint64_t partials) {
        if (partials <= room_) return;
        room_ = partials;
        const std::size_t groups = (partials + group - 1) / group;
        partials_.reset(); // before more is asked for
        partials_.emplace(gpu_, partials * partial_bytes_);
        gathered_.emplace(gpu_, groups * partial_bytes_);
        sums_.resize(groups * partial_bytes_ / sizeof(double));
        const std::uint64_t windows = plan_.equal_chunks ? 1 : partials / window_segments(plan_);
        chosen_.emplace(gpu_, ((rare_ > 0 ? partials / rare_ : 0) + windows) * sizeof(std::uint64_t));
        most_.emplace(gpu_, windows * sizeof(double));
        number_.emplace(gpu_, sizeof(std::uint64_t));
        most_bytes_ = static_cast<std::int64_t>((partials + groups) * partial_bytes_ + chosen_->bytes() +
                                                most_->bytes());
    }

    // One launch; returns when it is done, so that a call can be cancelled.
    void start(GrayLaunch chunks_of, double subsets) {
        const std::uint64_t chunks =
            (chunks_of.end - chunks_of.first + chunks_of.length - 1) / chunks_of.length;
        const auto needed = (chunks + shape_.threads - 1) / shape_.threads;
        const unsigned blocks = plan_.equal_chunks
                                    ? shape_.blocks
                                    : static_cast<unsigned>(std::min<std::uint64_t>(needed, shape_.blocks));
        std::uint64_t values = values_.address(), rows = rows_.address(), partials = partials_->address();
        // The driver copies the parameters before the call returns.
        void *first = values_by_parameter(plan_) ? static_cast<void *>(parameters_.data())
                                                 : static_cast<void *>(&values);
        const std::array<void *, 4> arguments{first, &chunks_of, &rows, &partials};
        kernel_.launch(stream_, blocks, shape_.threads, shape_.shared, arguments);
        stream_.wait();
        control_.advance(subsets);
    }

    // Few segments are so much above their window's average: at most one in rare_.
    std::uint64_t choose_largest(const std::vector<GraySum> &windows, std::uint64_t window) {
        std::vector<double> most;
        for (const GraySum &sum : windows) most.push_back(most_of_window(sum.absolute, window, rare_));
        std::uint64_t segments = window * windows.size(), room = segments / rare_ + windows.size(),
                      number = 0;
        stream_.copy_in(most_->address(), most.data(), most.size() * sizeof(double));
        stream_.copy_in(*number_, &number, sizeof number);
        std::uint64_t partials = partials_->address(), chosen = chosen_->address(),
                      of_window = most_->address(), counter = number_->address();
        int window_bits = std::countr_zero(window);
        launch(*select_, threads_for(segments),
               {&partials, &segments, &of_window, &window_bits, &chosen, &room, &counter});
        stream_.copy_out(&number, *number_, sizeof number);
        return std::min(number, room);
    }

    void sum_accurately(std::uint64_t base, std::uint64_t count) {
        std::uint64_t values = values_.address(), column_ptr = pattern_.address(),
                      row = column_ptr + static_cast<std::uint64_t>(plan_.n + 1) * sizeof(std::int32_t),
                      chosen = chosen_->address(), partials = partials_->address();
        launch(*accurate_, {static_cast<unsigned>(count), static_cast<unsigned>(accurate_threads(plan_))},
               {&values, &column_ptr, &row, &chosen, &base, &partials});
    }

    // The sum of each window, of so many partial sums.
    std::vector<GraySum> added_up(std::uint64_t partials, std::uint64_t window) {
        const std::uint64_t groups = (partials + group - 1) / group;
        return with_arithmetic_of(plan_.arithmetic, numbers_, [&](auto f) {
            using Partial = PartialOf<decltype(f)>;
            std::uint64_t from = partials_->address(), to = gathered_->address(), of_group = group;
            launch(gather_, threads_for(groups), {&from, &partials, &of_group, &to, &f});
            stream_.copy_out(sums_.data(), gathered_->address(), groups * sizeof(Partial));
            std::vector<Partial> sums(groups);
            std::memcpy(sums.data(), sums_.data(), groups * sizeof(Partial));
            const std::uint64_t of_window = (window + group - 1) / group;
            std::vector<GraySum> windows;
            for (std::uint64_t k = 0; k < groups; k += of_window)
                windows.push_back(sum_of_groups(f, std::span<const Partial>(sums).subspan(k, of_window)));
            return windows;
        });
    }

    struct Grid {
        unsigned blocks, threads;
    };
    static Grid threads_for(std::uint64_t items) {
        constexpr unsigned threads = 128;
        return {static_cast<unsigned>((items + threads - 1) / threads), threads};
    }
    void launch(const GpuKernel &kernel, Grid grid, std::initializer_list<void *> arguments) {
        kernel.launch(stream_, grid.blocks, grid.threads, 0, {arguments.begin(), arguments.size()});
    }

    const GrayKernel &plan_;
    const std::uint64_t rare_;
    const std::size_t partial_bytes_;
    const std::vector<double> &numbers_;
    std::vector<double> parameters_;
    std::shared_ptr<const Gpu> gpu_;
    GpuKernel kernel_, gather_;
    RunControl &control_;
    Shape shape_;
    double seconds_per_subset_;
    GpuStream stream_;
    GpuMemory rows_, values_;
    std::vector<std::int32_t> indexes_;
    GpuMemory pattern_;
    std::optional<GpuKernel> select_, accurate_;
    std::optional<GpuMemory> partials_, gathered_, chosen_, most_, number_;
    std::uint64_t room_ = 0;   // partial sums that there is memory for
    std::vector<double> sums_; // of groups
    std::int64_t most_bytes_ = 0;
};

class GpuWorker final : public WindowWorker {
  public:
    GpuWorker(const GrayPlan &plan, std::shared_ptr<const GpuModule> module, double seconds,
              RunControl &control, std::atomic<std::int64_t> &peak_bytes)
        : plan_(plan),
          module_(std::move(module)),
          seconds_(seconds),
          control_(control),
          peak_bytes_(peak_bytes) {}

    std::uint64_t at_once() const override {
        return std::min(window_count(plan_.kernel), most_segments / window_segments(plan_.kernel));
    }

    std::vector<GraySum> sums(const std::vector<double> &matrix, std::uint64_t first,
                              std::uint64_t count) override {
        if (&matrix != matrix_) {
            run_.reset();
            run_.emplace(plan_, matrix, module_, seconds_, control_);
            matrix_ = &matrix;
        }
        std::vector<GraySum> all = run_->sums(first, count);
        const std::int64_t bytes = run_->peak_bytes();
        for (std::int64_t most = peak_bytes_; most < bytes;)
            if (peak_bytes_.compare_exchange_weak(most, bytes)) break;
        return all;
    }

  private:
    const GrayPlan &plan_;
    std::shared_ptr<const GpuModule> module_;
    double seconds_; // of a matrix
    RunControl &control_;
    std::atomic<std::int64_t> &peak_bytes_;
    const std::vector<double> *matrix_ = nullptr;
    std::optional<GrayRun> run_;
};

std::shared_ptr<const GpuModule> loaded(const GrayPlan &plan, const std::shared_ptr<const Gpu> &gpu,
                                        const CacheSettings &cache, Outcome &outcome) {
    KernelOrigin origin;
    const KernelRecipe recipe{key_of(plan.kernel), [&plan] { return source_of(plan.kernel); },
                              kernel_flags()};
    auto module = load_kernels(gpu, recipe, cache, origin);
    outcome.seconds_compile += origin.seconds;
    outcome.kernels_compiled += origin.from == KernelOrigin::compiler;
    return module;
}

std::vector<GraySum> sums_of(const GrayPlan &plan, const std::vector<std::vector<double>> &matrices,
                             const GrayDevices &devices, RunControl &control, Outcome &outcome) {
    std::atomic<std::int64_t> peak_bytes = 0;
    outcome.on_gpu = static_cast<bool>(devices.gpus);
    const auto open = [&] {
        WindowWorkers workers;
        if (devices.cpu) workers.push_back(tree_on_cpu(plan, control));
        if (!devices.gpus) return workers;
        const double seconds = devices.seconds / static_cast<double>(matrices.size());
        for (const auto &gpu : devices.gpus())
            workers.push_back(std::make_unique<GpuWorker>(plan, loaded(plan, gpu, devices.cache, outcome),
                                                          seconds, control, peak_bytes));
        return workers;
    };
    std::vector<GraySum> sums = sum_windows(plan, matrices, open, control);
    outcome.peak_bytes = outcome.on_gpu ? peak_bytes.load()
                                        : static_cast<std::int64_t>(window_segments(plan.kernel)) * 8 *
                                              partial_doubles(plan.kernel.arithmetic);
    return sums;
}

template <class Values, class Block, class... Way>
Outcome run(const GrayPlan &plan, const Block &block, const GrayDevices &devices, RunControl &control,
            const Way &...way) {
    Outcome outcome;
    const Values values(plan, block);
    const GraySum sum = sums_of(plan, {values.numbers()}, devices, control, outcome).front();
    values.close(sum, way..., outcome);
    outcome.operations = outcome.subsets * plan.flops_per_subset;
    return outcome;
}

} // namespace

Outcome run_gray(const GrayPlan &plan, const Block &block, const GrayDevices &devices, RunControl &control) {
    return run<GrayValues>(plan, block, devices, control, block, way_of(plan.kernel));
}

Outcome run_gray(const GrayPlan &plan, const ExactBlock &block, const GrayDevices &devices,
                 RunControl &control) {
    return run<GridValues>(plan, block, devices, control, plan.kernel);
}

std::vector<std::uint64_t> run_gray(const GrayPlan &plan, const Residues &residues,
                                    const GrayDevices &devices, RunControl &control, Outcome &outcome) {
    std::vector<std::vector<double>> matrices;
    for (std::size_t k = 0; k < residues.primes.size(); ++k)
        matrices.push_back(residue_values(plan, residues, k));
    const std::vector<GraySum> sums = sums_of(plan, matrices, devices, control, outcome);
    std::vector<std::uint64_t> permanents;
    for (std::size_t k = 0; k < sums.size(); ++k)
        permanents.push_back(residue_permanent(plan, sums[k].sum, residues.primes[k]));
    return permanents;
}

} // namespace libperm
