#include "lib/subsets/kernel_on_device.hpp"

#include "jit/kernel/subset_source.hpp"
#include "lib/subsets/kernel_values.hpp"
#include "lib/subsets/launch.hpp"
#include "lib/subsets/launch_shape.hpp"
#include "lib/subsets/segment_sum.hpp"

#include <algorithm>
#include <array>
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

// Runs the kernel for one matrix.
class KernelRun {
  public:
    // `refined_kernel`: the kernel of engine tree by which it sums segments again, if there is one.
    KernelRun(DeviceQueue &queue, const SubsetPlan &plan, const std::optional<SubsetKernel> &refined_kernel,
              const SubsetMatrix &matrix, double seconds, RunControl &control)
        : queue_(queue),
          plan_(plan.kernel),
          refined_(matrix.refined),
          refined_kernel_(refined_kernel),
          partial_bytes_(static_cast<std::size_t>(partial_doubles(plan_.arithmetic)) * sizeof(double)),
          numbers_(matrix.numbers),
          walk_{gray_entry, parameters_of(plan_, numbers_), widest_shape(plan_, queue),
                values_by_parameter(plan_)},
          control_(control),
          seconds_per_subset_(seconds / plan.subsets),
          segment_operations_(std::ldexp(plan.flops_per_subset, plan.kernel.segment_bits)) {
        rows_.reserve(static_cast<std::size_t>(global_rows(plan_) * parts_of(plan_.arithmetic)) *
                      walk_.shape.all() * sizeof(double));
        put(values_, walk_.parameters);
        put(pattern_, pattern_indexes(plan_));
    }

    // Of windows first .. first + count - 1, or of all subsets in equal chunks.
    std::vector<SubsetSum> sums(std::uint64_t first, std::uint64_t count) {
        if (plan_.equal_chunks) return {run_equally()};
        const std::uint64_t window = window_segments(plan_), segments = count * window;
        make_room(segments);
        const Walk &walk = refined_.all ? refining_walk() : walk_;
        for (const SubsetLaunch &launch : launches(walk, first * window, (first + count) * window))
            start(walk, launch,
                  std::ldexp(static_cast<double>(launch.end - launch.first), plan_.segment_bits));
        if (!refined_.all && refined_.most < std::numeric_limits<double>::infinity())
            refine(first * window, segments, window);
        return added_up(segments, window);
    }

    std::int64_t peak_bytes() const {
        return static_cast<std::int64_t>(rows_.bytes() + partials_.bytes() + gathered_.bytes() +
                                         chosen_.bytes() + rest_.bytes() + hopeless_.bytes());
    }

  private:
    SubsetSum run_equally() {
        const std::uint64_t subsets = std::uint64_t{1} << (plan_.n - 1);
        const std::uint64_t window = std::min(subsets, equal_window);
        const std::uint64_t threads = walk_.shape.all();
        make_room(threads);
        SubsetSum total;
        for (std::uint64_t first = 0; first < subsets; first += window) {
            const std::uint64_t length = (window + threads - 1) / threads;
            start(walk_, {first, first + window, length, 0}, static_cast<double>(window));
            const SubsetSum sum = added_up(threads, threads).front();
            with_arithmetic_of(plan_.arithmetic, numbers_, [&](const auto &f) { add_window(f, total, sum); });
        }
        return total;
    }

    void make_room(std::uint64_t partials) {
        if (partials <= room_) return;
        room_ = partials;
        const std::size_t groups = (partials + group - 1) / group;
        partials_.reserve(partials * partial_bytes_);
        gathered_.reserve(groups * partial_bytes_);
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

    // One launch; returns when it is done, so that a call can be cancelled.
    void start(const Walk &walk, SubsetLaunch chunks_of, double subsets) {
        const std::uint64_t chunks =
            (chunks_of.end - chunks_of.first + chunks_of.length - 1) / chunks_of.length;
        const auto needed = (chunks + walk.shape.threads - 1) / walk.shape.threads;
        const unsigned blocks = plan_.equal_chunks ? walk.shape.blocks : static_cast<unsigned>(needed);
        DeviceAddress values = (&walk == &walk_ ? values_ : refined_values_).address(),
                      rows = rows_.address(), partials = partials_.address();
        void *first =
            walk.by_parameter ? const_cast<double *>(walk.parameters.data()) : static_cast<void *>(&values);
        const std::array<void *, 4> arguments{first, &chunks_of, &rows, &partials};
        queue_.launch(walk.entry, blocks, walk.shape.threads, arguments, walk.shape.shared);
        queue_.wait();
        control_.advance(subsets);
    }

    // Sums those segments from `base` on that matter most again.
    void refine(std::uint64_t base, std::uint64_t segments, std::uint64_t window) {
        find_hopeless(segments, window);
        std::uint64_t number = 0;
        queue_.copy_in(number_.address(), &number, sizeof number);
        DeviceAddress partials = partials_.address(), hopeless = hopeless_.address(),
                      chosen = chosen_.address(), counter = number_.address();
        double most = refined_.most;
        launch(select_entry, threads_for(segments),
               {&partials, &segments, &most, &window, &hopeless, &chosen, &counter});
        queue_.copy_out(&number, number_.address(), sizeof number);
        if (number == 0) return;
        if (plan_.engine != SubsetEngine::tree) return sum_accurately(base, number);
        // Each takes several times as long as it took before.
        const std::uint64_t at_once =
            refining_walk().shape.all() * std::clamp<std::uint64_t>(longest(refining_walk()) / 8, 1, waves);
        for (std::uint64_t k = 0; k < number; k += at_once)
            start(refining_walk(), {k, std::min(number, k + at_once), 1, base, chosen}, 0);
    }

    // The windows that are left as they are.
    void find_hopeless(std::uint64_t segments, std::uint64_t window) {
        std::uint64_t size = std::min(group, window);
        double most = refined_.most;
        std::vector<double> of_groups((segments + size - 1) / size);
        rest_.reserve(of_groups.size() * sizeof(double));
        DeviceAddress partials = partials_.address(), rest = rest_.address();
        launch(rest_entry, threads_for(of_groups.size()), {&partials, &segments, &most, &size, &rest});
        queue_.copy_out(of_groups.data(), rest, of_groups.size() * sizeof(double));
        std::vector<int> hopeless;
        for (std::size_t k = 0; k < of_groups.size(); k += window / size)
            hopeless.push_back(
                std::accumulate(of_groups.begin() + static_cast<std::ptrdiff_t>(k),
                                of_groups.begin() + static_cast<std::ptrdiff_t>(k + window / size),
                                0.0) > refined_.hopeless);
        put(hopeless_, hopeless);
    }

    void sum_accurately(std::uint64_t base, std::uint64_t count) {
        DeviceAddress values = values_.address(), column_ptr = pattern_.address(),
                      row = column_ptr + static_cast<std::uint64_t>(plan_.n + 1) * sizeof(std::int32_t),
                      chosen = chosen_.address(), partials = partials_.address();
        launch(accurate_entry, {static_cast<unsigned>(count), static_cast<unsigned>(accurate_threads(plan_))},
               {&values, &column_ptr, &row, &chosen, &base, &partials});
    }

    // The sum of each window, of so many partial sums.
    std::vector<SubsetSum> added_up(std::uint64_t partials, std::uint64_t window) {
        const std::uint64_t groups = (partials + group - 1) / group;
        return with_arithmetic_of(plan_.arithmetic, numbers_, [&](auto f) {
            using Partial = PartialOf<decltype(f)>;
            DeviceAddress from = partials_.address(), to = gathered_.address();
            std::uint64_t of_group = group;
            launch(gather_entry, threads_for(groups), {&from, &partials, &of_group, &to, &f});
            std::vector<Partial> sums(groups);
            queue_.copy_out(sums.data(), to, groups * sizeof(Partial));
            const std::uint64_t of_window = (window + group - 1) / group;
            std::vector<SubsetSum> windows;
            for (std::uint64_t k = 0; k < groups; k += of_window)
                windows.push_back(sum_of_groups(f, std::span<const Partial>(sums).subspan(k, of_window)));
            return windows;
        });
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
    const RefinedSegments refined_;
    const std::optional<SubsetKernel> &refined_kernel_;
    const std::size_t partial_bytes_;
    const std::vector<double> &numbers_;
    const Walk walk_;
    std::optional<Walk> refining_walk_;
    RunControl &control_;
    double seconds_per_subset_, segment_operations_;
    DeviceArray rows_{queue_}, values_{queue_}, refined_values_{queue_}, pattern_{queue_};
    DeviceArray partials_{queue_}, gathered_{queue_}, chosen_{queue_}, number_{queue_}, rest_{queue_},
        hopeless_{queue_};
    std::uint64_t room_ = 0; // partial sums that there is memory for
};

class DeviceWorker final : public WindowWorker {
  public:
    DeviceWorker(DeviceQueue &queue, const SubsetPlan &plan, bool refines, double seconds,
                 RunControl &control, std::atomic<std::int64_t> &peak_bytes)
        : queue_(queue), plan_(plan), seconds_(seconds), control_(control), peak_bytes_(peak_bytes) {
        std::vector<KernelRecipe> recipes{subsets_kernel(plan.kernel)};
        if (refines && plan.kernel.engine == SubsetEngine::tree)
            recipes.push_back(subsets_kernel(refined_kernel_.emplace(refined_plan(plan).kernel)));
        queue.load(recipes); // at once: they are compiled side by side
    }

    std::uint64_t at_once() const override {
        return std::min(window_count(plan_.kernel), most_segments / window_segments(plan_.kernel));
    }

    std::vector<SubsetSum> sums(const SubsetMatrix &matrix, std::uint64_t first,
                                std::uint64_t count) override {
        if (&matrix != matrix_) {
            run_.reset(); // before more memory is asked for
            run_.emplace(queue_, plan_, refined_kernel_, matrix, seconds_, control_);
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
    double seconds_; // of a matrix
    RunControl &control_;
    std::atomic<std::int64_t> &peak_bytes_;
    const SubsetMatrix *matrix_ = nullptr;
    std::optional<KernelRun> run_;
};

} // namespace

std::unique_ptr<WindowWorker> kernel_on_device(DeviceQueue &queue, const SubsetPlan &plan, bool refines,
                                               double seconds, RunControl &control,
                                               std::atomic<std::int64_t> &peak_bytes) {
    return std::make_unique<DeviceWorker>(queue, plan, refines, seconds, control, peak_bytes);
}

} // namespace libperm
