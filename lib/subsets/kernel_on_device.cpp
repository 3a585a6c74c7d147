#include "lib/subsets/kernel_on_device.hpp"

#include "jit/driver/jit_error.hpp"
#include "jit/kernel/subset_source.hpp"
#include "lib/subsets/kernel_values.hpp"
#include "lib/subsets/segments.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <optional>

namespace libperm {
namespace {

constexpr std::uint64_t group = segment_group;
constexpr std::uint64_t equal_window = std::uint64_t{1} << 36; // subsets
constexpr double launch_seconds = 0.2;                         // of one launch at most, as predicted

// The columns' beginnings, then the row of each entry.
std::vector<std::int32_t> pattern_indexes(const SubsetKernel &kernel) {
    const KernelColumns columns = columns_of(kernel);
    std::vector<std::int32_t> indexes(columns.column_ptr.begin(), columns.column_ptr.end());
    indexes.insert(indexes.end(), columns.row.begin(), columns.row.end());
    return indexes;
}

// Enough of them for all threads to be at work most of the time. Two batches are in the device's memory.
std::uint64_t windows_of_batch(const SubsetKernel &kernel, const LaunchShape &widest) {
    constexpr std::uint64_t each = 128; // segments of a thread, at most
    const std::uint64_t segments = std::bit_floor(each * widest.all());
    return std::max<std::uint64_t>(1, std::min(segments, most_segments / 2) / window_segments(kernel));
}

// Runs the kernel for one matrix.
class KernelRun {
  public:
    // `refined_kernel`: the kernel of engine tree by which it sums segments again, if there is one. `widest`:
    // the shape of the other.
    KernelRun(DeviceQueue &queue, const SubsetPlan &plan, const std::optional<SubsetKernel> &refined_kernel,
              const SubsetMatrix &matrix, const LaunchShape &widest, double seconds)
        : queue_(queue),
          plan_(plan.kernel),
          windows_of_batch_(windows_of_batch(plan_, widest)),
          refined_(matrix.refined),
          refined_kernel_(refined_kernel),
          partial_bytes_(static_cast<std::size_t>(partial_doubles(plan_.arithmetic)) * sizeof(double)),
          numbers_(matrix.numbers),
          walk_{gray_entry, parameters_of(plan_, numbers_), widest, values_by_parameter(plan_)},
          seconds_per_subset_(seconds / plan.subsets),
          segment_operations_(std::ldexp(plan.flops_per_subset, plan.kernel.segment_bits)) {
        rows_.reserve(static_cast<std::size_t>(global_rows(plan_) * parts_of(plan_.arithmetic)) *
                      walk_.shape.all() * sizeof(double));
        put(values_, walk_.parameters);
        put(pattern_, pattern_indexes(plan_));
        queue_.wait(); // batches' own streams do not
    }

    // Of windows first .. first + count - 1, or of all subsets in equal chunks. Two batches take turns: the
    // device walks in one, on a stream of its own, while what the other came to is added up. But not where
    // threads have numbers in global memory, which are those of one launch.
    std::vector<SubsetSum> sums(std::uint64_t first, std::uint64_t count) {
        if (plan_.equal_chunks) return {run_equally()};
        const std::uint64_t most = windows_of_batch_, ahead = global_rows(plan_) > 0 ? 0 : 1;
        std::vector<SubsetSum> all;
        for (std::uint64_t k = 0, begun = 0; all.size() < count; ++k) {
            for (; begun <= k + ahead && begun * most < count; ++begun)
                begin(begun % (ahead + 1), first + begun * most, std::min(most, count - begun * most));
            const std::vector<SubsetSum> some = finish(k % (ahead + 1));
            all.insert(all.end(), some.begin(), some.end());
        }
        queue_.use_stream(0);
        return all;
    }

    std::int64_t peak_bytes() const {
        std::size_t bytes = batches_[0].partials.bytes() + batches_[1].partials.bytes();
        for (const DeviceArray *array : {&rows_, &gathered_, &chosen_, &number_, &rest_, &hopeless_})
            bytes += array->bytes();
        return static_cast<std::int64_t>(bytes);
    }

  private:
    // Segments whose sums are in the making, on a stream of their own.
    struct Batch {
        explicit Batch(DeviceQueue &queue) : partials(queue) {}

        DeviceArray partials;
        std::uint64_t first = 0, segments = 0;
        std::optional<double> under_way; // subsets of a launch that was not waited for
    };

    void begin(std::size_t k, std::uint64_t first, std::uint64_t windows) {
        queue_.use_stream(k);
        Batch &batch = batches_[k];
        batch.first = first * window_segments(plan_);
        batch.segments = windows * window_segments(plan_);
        make_room(batch, batch.segments);
        const Walk &walk = refined_.all ? refining_walk() : walk_;
        for (const SubsetLaunch &launch : launches(walk, batch.first, batch.first + batch.segments)) {
            settle(batch);
            start(batch, walk, launch,
                  std::ldexp(static_cast<double>(launch.end - launch.first), plan_.segment_bits));
        }
    }

    std::vector<SubsetSum> finish(std::size_t k) {
        Batch &batch = batches_[k];
        queue_.use_stream(k);
        settle(batch);
        queue_.use_stream(DeviceQueue::urgent_stream);
        if (!refined_.all && refined_.most < std::numeric_limits<double>::infinity()) refine(batch);
        return added_up(batch, batch.segments, window_segments(plan_));
    }

    SubsetSum run_equally() {
        Batch &batch = batches_[0];
        const std::uint64_t subsets = std::uint64_t{1} << (plan_.n - 1);
        const std::uint64_t window = std::min(subsets, equal_window);
        const std::uint64_t threads = walk_.shape.all();
        make_room(batch, threads);
        SubsetSum total;
        for (std::uint64_t first = 0; first < subsets; first += window) {
            const std::uint64_t length = (window + threads - 1) / threads;
            start(batch, walk_, {first, first + window, length, 0}, static_cast<double>(window));
            settle(batch);
            const SubsetSum sum = added_up(batch, threads, threads).front();
            with_arithmetic_of(plan_.arithmetic, numbers_, [&](const auto &f) { add_window(f, total, sum); });
        }
        return total;
    }

    void make_room(Batch &batch, std::uint64_t partials) {
        batch.partials.reserve(partials * partial_bytes_);
        gathered_.reserve((partials + group - 1) / group * partial_bytes_);
        if (!refines(plan_)) return;
        chosen_.reserve(partials * sizeof(std::uint64_t));
        number_.reserve(sizeof(std::uint64_t));
    }

    // A kernel that walks, and what it is launched with.
    struct Walk {
        const char *entry;
        std::vector<double> parameters;
        LaunchShape shape;
        bool by_parameter;
    };

    const Walk &refining_walk() {
        if (!refining_walk_) {
            const SubsetKernel &kernel = refined_kernel_.value();
            refining_walk_ = {refined_entry, parameters_of(kernel, numbers_of(kernel, numbers_)),
                              widest_shape(kernel, queue_), values_by_parameter(kernel)};
            put(refined_values_, refining_walk_->parameters);
            queue_.wait(); // both batches may read them
        }
        return *refining_walk_;
    }

    // Segments that each thread at once may take in a launch.
    std::uint64_t longest(const Walk &walk) const {
        const double segment_seconds =
            std::ldexp(seconds_per_subset_ * static_cast<double>(walk.shape.all()), plan_.segment_bits);
        return static_cast<std::uint64_t>(std::clamp(launch_seconds / segment_seconds, 1.0, 0x1p40));
    }

    // Threads of `hybrid` have numbers in global memory, so that there are no more than the device holds.
    std::vector<SubsetLaunch> launches(const Walk &walk, std::uint64_t first, std::uint64_t end) const {
        const std::uint64_t threads = walk.shape.all();
        if (global_rows(plan_) > 0) return launch_parameters(first, end, threads, longest(walk));
        // Before its first segment a thread brings in the columns above it.
        const double coming = 100.0 * (plan_.n - plan_.segment_bits) * plan_.n,
                     chunk = std::clamp(coming / segment_operations_, 1.0, 0x1p20);
        return launches_in_waves(first, end, threads, threads * longest(walk),
                                 static_cast<std::uint64_t>(chunk));
    }

    // One launch; the next of its batch waits for it, so that a call can be cancelled.
    void start(Batch &batch, const Walk &walk, SubsetLaunch chunks_of, double subsets) {
        const std::uint64_t chunks =
            (chunks_of.end - chunks_of.first + chunks_of.length - 1) / chunks_of.length;
        const auto needed = (chunks + walk.shape.threads - 1) / walk.shape.threads;
        const unsigned blocks = plan_.equal_chunks ? walk.shape.blocks : static_cast<unsigned>(needed);
        DeviceAddress values = (&walk == &walk_ ? values_ : refined_values_).address(),
                      rows = rows_.address(), partials = batch.partials.address();
        void *first =
            walk.by_parameter ? const_cast<double *>(walk.parameters.data()) : static_cast<void *>(&values);
        const std::array<void *, 4> arguments{first, &chunks_of, &rows, &partials};
        queue_.launch(walk.entry, blocks, walk.shape.threads, arguments, walk.shape.shared);
        batch.under_way = subsets;
    }

    void settle(Batch &batch) {
        if (!batch.under_way) return;
        queue_.wait();
        call().advance(*std::exchange(batch.under_way, std::nullopt));
    }

    // Sums those of its segments that matter most again.
    void refine(Batch &batch) {
        find_hopeless(batch);
        std::uint64_t number = 0, segments = batch.segments, window = window_segments(plan_);
        queue_.copy_in(number_.address(), &number, sizeof number);
        DeviceAddress partials = batch.partials.address(), hopeless = hopeless_.address(),
                      chosen = chosen_.address(), counter = number_.address();
        double most = refined_.most;
        launch(select_entry, threads_for(segments),
               {&partials, &segments, &most, &window, &hopeless, &chosen, &counter});
        queue_.copy_out(&number, number_.address(), sizeof number);
        if (number == 0) return;
        if (plan_.engine != SubsetEngine::tree) return sum_accurately(batch, number);
        // Each takes several times as long as it took before.
        const std::uint64_t at_once =
            refining_walk().shape.all() * std::clamp<std::uint64_t>(longest(refining_walk()) / 8, 1, waves);
        for (std::uint64_t k = 0; k < number; k += at_once) {
            start(batch, refining_walk(), {k, std::min(number, k + at_once), 1, batch.first, chosen}, 0);
            settle(batch);
        }
    }

    // The windows that are left as they are.
    void find_hopeless(Batch &batch) {
        const std::uint64_t window = window_segments(plan_);
        std::uint64_t segments = batch.segments, size = std::min(group, window);
        double most = refined_.most;
        const std::size_t groups = (segments + size - 1) / size;
        rest_.reserve(groups * sizeof(double));
        DeviceAddress partials = batch.partials.address(), rest = rest_.address();
        launch(rest_entry, threads_for(groups), {&partials, &segments, &most, &size, &rest});
        const std::span of_groups = fetched<double>(rest, groups);
        std::vector<int> hopeless;
        for (std::size_t k = 0; k < groups; k += window / size) {
            const std::span of_window = of_groups.subspan(k, window / size);
            hopeless.push_back(std::accumulate(of_window.begin(), of_window.end(), 0.0) > refined_.hopeless);
        }
        put(hopeless_, hopeless);
    }

    void sum_accurately(Batch &batch, std::uint64_t count) {
        std::uint64_t base = batch.first;
        DeviceAddress values = values_.address(), column_ptr = pattern_.address(),
                      row = column_ptr + static_cast<std::uint64_t>(plan_.n + 1) * sizeof(std::int32_t),
                      chosen = chosen_.address(), partials = batch.partials.address();
        launch(accurate_entry, {static_cast<unsigned>(count), static_cast<unsigned>(accurate_threads(plan_))},
               {&values, &column_ptr, &row, &chosen, &base, &partials});
    }

    // The sum of each window, of so many partial sums.
    std::vector<SubsetSum> added_up(Batch &batch, std::uint64_t partials, std::uint64_t window) {
        const std::uint64_t groups = (partials + group - 1) / group;
        return with_arithmetic_of(plan_.arithmetic, numbers_, [&](auto f) {
            using Partial = PartialOf<decltype(f)>;
            DeviceAddress from = batch.partials.address(), to = gathered_.address();
            std::uint64_t of_group = group;
            launch(gather_entry, threads_for(groups), {&from, &partials, &of_group, &to, &f});
            const std::span sums = fetched<Partial>(to, groups);
            const std::uint64_t of_window = (window + group - 1) / group;
            std::vector<SubsetSum> windows(groups / of_window);
            parallel_for(windows.size(), [&](std::size_t k) {
                windows[k] = sum_of_groups(f, sums.subspan(k * of_window, of_window));
            });
            return windows;
        });
    }

    template <class T> std::span<const T> fetched(DeviceAddress from, std::size_t count) {
        const std::size_t doubles = count * sizeof(T) / sizeof(double);
        if (doubles > room_on_host_) {
            on_host_.emplace(queue_, doubles);
            room_on_host_ = doubles;
        }
        queue_.fetch(on_host_->get(), from, count * sizeof(T));
        queue_.wait();
        return {reinterpret_cast<const T *>(on_host_->get()), count};
    }

    template <class T> void put(DeviceArray &array, const std::vector<T> &numbers) {
        array.reserve(numbers.size() * sizeof(T));
        queue_.copy_in(array.address(), numbers.data(), numbers.size() * sizeof(T));
    }

    struct Grid {
        unsigned blocks, threads;
    };
    Grid threads_for(std::uint64_t items) const {
        const unsigned threads = queue_.block_threads(128);
        return {static_cast<unsigned>((items + threads - 1) / threads), threads};
    }
    void launch(const char *entry, Grid grid, std::initializer_list<void *> arguments) {
        queue_.launch(entry, grid.blocks, grid.threads, {arguments.begin(), arguments.size()});
    }

    DeviceQueue &queue_;
    const SubsetKernel &plan_;
    const std::uint64_t windows_of_batch_;
    const RefinedSegments refined_;
    const std::optional<SubsetKernel> &refined_kernel_;
    const std::size_t partial_bytes_;
    const std::vector<double> &numbers_;
    const Walk walk_;
    std::optional<Walk> refining_walk_;
    double seconds_per_subset_, segment_operations_;
    DeviceArray rows_{queue_}, values_{queue_}, refined_values_{queue_}, pattern_{queue_};
    std::array<Batch, 2> batches_{Batch(queue_), Batch(queue_)};
    // What follows a walk is done with before the next one's follows.
    DeviceArray gathered_{queue_}, chosen_{queue_}, number_{queue_}, rest_{queue_}, hopeless_{queue_};
    std::optional<HostArray<double>> on_host_;
    std::size_t room_on_host_ = 0; // doubles
};

class DeviceWorker final : public WindowWorker {
  public:
    DeviceWorker(DeviceQueue &queue, const SubsetPlan &plan, bool refines, double seconds,
                 std::atomic<std::int64_t> &peak_bytes)
        : queue_(queue), plan_(plan), seconds_(seconds), peak_bytes_(peak_bytes) {
        std::vector<KernelRecipe> recipes{subsets_kernel(plan.kernel)};
        if (refines && plan.kernel.engine == SubsetEngine::tree)
            recipes.push_back(subsets_kernel(refined_kernel_.emplace(refined_plan(plan).kernel)));
        queue.load(recipes); // at once: they are compiled side by side
        widest_ = widest_shape(plan.kernel, queue);
    }

    // Batches enough for all but the last to be added up beside the next; what is kept is kept after them.
    std::uint64_t at_once() const override {
        constexpr double most_seconds = 2, most_batches = 16;
        const auto windows = static_cast<double>(window_count(plan_.kernel)),
                   of_batch = static_cast<double>(windows_of_batch(plan_.kernel, widest_));
        const double batches = std::clamp(most_seconds / (seconds_ * of_batch / windows), 1.0, most_batches);
        return static_cast<std::uint64_t>(std::min(windows, std::floor(batches) * of_batch));
    }

    std::vector<SubsetSum> sums(const SubsetMatrix &matrix, std::uint64_t first,
                                std::uint64_t count) override {
        if (&matrix != matrix_) {
            run_.reset(); // before more memory is asked for
            run_.emplace(queue_, plan_, refined_kernel_, matrix, widest_, seconds_);
            matrix_ = &matrix;
        }
        std::vector<SubsetSum> all = run_->sums(first, count);
        const std::int64_t bytes = run_->peak_bytes();
        for (std::int64_t most = peak_bytes_; most < bytes;)
            if (peak_bytes_.compare_exchange_weak(most, bytes)) break;
        return all;
    }

  private:
    DeviceQueue &queue_;
    const SubsetPlan &plan_;
    std::optional<SubsetKernel> refined_kernel_;
    LaunchShape widest_;
    double seconds_; // of a matrix
    std::atomic<std::int64_t> &peak_bytes_;
    const SubsetMatrix *matrix_ = nullptr;
    std::optional<KernelRun> run_;
};

} // namespace

std::unique_ptr<WindowWorker> kernel_on_device(DeviceQueue &queue, const SubsetPlan &plan, bool refines,
                                               double seconds, std::atomic<std::int64_t> &peak_bytes) {
    return std::make_unique<DeviceWorker>(queue, plan, refines, seconds, peak_bytes);
}

LaunchShape widest_shape(const SubsetKernel &kernel, DeviceQueue &queue) {
    const DeviceLimits limits = queue.limits();
    const auto shared = [&](int threads) { return shared_bytes(kernel, threads); };
    const bool any_size = kernel.engine == SubsetEngine::shared; // the others' registers are given for one
    const int warp = static_cast<int>(limits.warp), least = any_size ? warp : kernel.threads;
    int most = kernel.threads;
    while (most >= least && shared(most) > limits.shared_bytes) most -= warp;
    if (most >= least)
        queue.allow_shared(walk_entry(kernel), shared(most)); // whatever is widest: calls share it
    LaunchShape best;
    for (int threads = least; threads <= most; threads += warp) {
        LaunchShape shape{static_cast<unsigned>(threads), 0, shared(threads)};
        shape.blocks = queue.blocks_at_once(walk_entry(kernel), shape.threads, shape.shared);
        if (shape.all() > best.all()) best = shape;
    }
    if (best.all() == 0)
        throw JitError(JitFailure::device, std::string("no block of engine ") +
                                               subset_engine_name(kernel.engine) +
                                               " fits a multiprocessor of " + limits.device);
    return best;
}

std::vector<SubsetLaunch> launch_parameters(std::uint64_t first, std::uint64_t end, std::uint64_t threads,
                                            std::uint64_t longest) {
    std::vector<SubsetLaunch> launches;
    for (std::uint64_t start = first; start < end;) {
        const std::uint64_t left = end - start;
        std::uint64_t length = 1;
        while (2 * length <= longest && 2 * length <= left / threads) length *= 2;
        const std::uint64_t taken = left / length < threads ? left : threads * length;
        launches.push_back({start, start + taken, length, first});
        start += taken;
    }
    return launches;
}

std::vector<SubsetLaunch> launches_in_waves(std::uint64_t first, std::uint64_t end, std::uint64_t threads,
                                            std::uint64_t most, std::uint64_t least) {
    std::vector<SubsetLaunch> launches;
    for (std::uint64_t start = first; start < end;) {
        const std::uint64_t taken = std::min(most, end - start), each = taken / threads;
        std::uint64_t length = 1;
        while (2 * length <= each && (length < least || 2 * length <= each / waves)) length *= 2;
        launches.push_back({start, start + taken, length, first});
        start += taken;
    }
    return launches;
}

} // namespace libperm
