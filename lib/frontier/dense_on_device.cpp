#include "jit/compile/digest.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/text/text.hpp"
#include "lib/base/log.hpp"
#include "lib/frontier/dense_layout.hpp"
#include "lib/frontier/device_numbers.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/frontier/slices.hpp"
#include "lib/input/machine.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>

namespace libperm {
namespace {

// Open high slots at most, and bytes of a row's lists and of the ranks.
struct Extremes {
    int high = 0;
    std::size_t row_bytes = 0, rank_bytes = 0;
};
Extremes extremes(const FrontierProgram &program) {
    Extremes most;
    for (const DenseShape &shape : dense_shapes(program)) {
        most.high = std::max(most.high, std::ilogb(shape.blocks));
        most.row_bytes =
            std::max(most.row_bytes, (static_cast<std::size_t>(shape.low_terms) + 1) * 2 << low_slots);
    }
    const std::size_t lower = std::size_t{1} << std::min(most.high, dense_chunk_bits),
                      upper =
                          most.high > dense_chunk_bits ? std::size_t{1} << (most.high - dense_chunk_bits) : 0;
    most.row_bytes += sizeof(DenseHighSet) * (lower + upper);
    most.rank_bytes = sizeof(std::uint32_t) * (lower + (dense_chunk_bits + 1) * upper);
    return most;
}

// What is put into the queue meanwhile does not wait for the row before.
class Beside {
  public:
    explicit Beside(DeviceQueue &queue) : queue_(queue) { queue_.use_stream(1); }
    ~Beside() { queue_.use_stream(0); }
    Beside(const Beside &) = delete;
    Beside &operator=(const Beside &) = delete;

  private:
    DeviceQueue &queue_;
};

// Each of these once, before the device is asked for memory: it may still be being opened.
std::vector<CubeKernel> loaded(DeviceQueue &queue, const StateNumbers &numbers,
                               std::vector<CubeKernel> of_rows) {
    std::vector<KernelRecipe> kernels;
    for (const CubeKernel &kernel : std::set<CubeKernel>(of_rows.begin(), of_rows.end()))
        kernels.push_back(dense_frontier_kernel(numbers, kernel));
    queue.load(kernels);
    return of_rows;
}

class DenseOnDevice final : public DeviceFrontier {
  public:
    DenseOnDevice(DeviceQueue &queue, const FrontierProgram &program, const StateNumbers &numbers,
                  std::vector<CubeKernel> row_kernels)
        : queue_(queue),
          program_(program),
          kind_(numbers),
          kernels_(loaded(queue, numbers, std::move(row_kernels))),
          first_(queue),
          second_(queue),
          lists_(queue),
          ranks_(queue),
          extents_(queue),
          most_(extremes(program)),
          staged_(queue, 2 * most_.row_bytes),
          extent_(queue, 1) {
        const std::array<double, 2> tables = largest_tables(program);
        const auto bytes = static_cast<std::size_t>(number_bytes(numbers));
        first_.reserve(static_cast<std::size_t>(tables[0]) * bytes);
        second_.reserve(static_cast<std::size_t>(tables[1]) * bytes);
        lists_.reserve(2 * most_.row_bytes);
        const std::vector<std::uint32_t> ranks = combination_ranks(most_.high);
        ranks_.reserve(ranks.size() * sizeof ranks.front());
        queue.copy_in(ranks_.address(), ranks.data(), ranks.size() * sizeof ranks.front());
        extents_.reserve(program.steps.size() * sizeof(Extent));
    }

    std::vector<double> compute(DeviceNumbers &numbers, Counts &counts) override {
        const std::vector<Extent> extents(program_.steps.size());
        queue_.copy_in(extents_.address(), extents.data(), extents.size() * sizeof(Extent));
        std::vector<double> number = one_on_device(kind_);
        DeviceAddress from = second_.address(), to = first_.address();
        queue_.copy_in(from, number.data(), 8 * number.size());
        maker_ = {};
        prepare(0);
        for (std::size_t t = 0; t < program_.steps.size(); ++t) {
            const FrontierStep &step = program_.steps[t];
            start(numbers, t, from, to);
            if (t + 1 < program_.steps.size()) prepare(t + 1); // meanwhile
            queue_.fetch(extent_.get(), extents_.address() + t * sizeof(Extent), sizeof(Extent));
            queue_.wait();
            const Extent extent = *extent_.get();
            numbers.end_step(static_cast<double>(step.terms.size()) - 1, step.expansions_bound, extent);
            call().advance(step.expansions_bound);
            std::swap(from, to);
            const double states = dense_states(step);
            counts.operations += step.expansions_bound;
            counts.states += states;
            counts.peak_states = std::max(counts.peak_states, states);
        }
        const auto bytes = static_cast<std::int64_t>(first_.bytes() + second_.bytes() + lists_.bytes() +
                                                     ranks_.bytes() + extents_.bytes());
        counts.peak_bytes = std::max(counts.peak_bytes, bytes);
        queue_.copy_out(number.data(), from, 8 * number.size());
        return number;
    }

  private:
    // Carries the row's lists there beside the row before, whose own are in the other half.
    void prepare(std::size_t t) {
        maker_.advance(program_.steps[t], kernels_[t].cube);
        row_ = maker_.row();
        const std::size_t half = t % 2 * most_.row_bytes;
        const std::size_t high_bytes = maker_.high().size() * sizeof(DenseHighSet),
                          place_bytes = maker_.places().size() * sizeof(std::uint16_t);
        std::memcpy(staged_.get() + half, maker_.high().data(), high_bytes);
        std::memcpy(staged_.get() + half + high_bytes, maker_.places().data(), place_bytes);
        row_.high = lists_.address() + half;
        row_.places = row_.high + high_bytes;
        const Beside beside(queue_);
        queue_.send(row_.high, staged_.get() + half, high_bytes + place_bytes);
        queue_.wait();
    }

    void start(DeviceNumbers &numbers, std::size_t t, DeviceAddress from, DeviceAddress to) {
        const std::vector<double> &coefficients = numbers.begin_step(program_.steps[t]);
        row_.from = from;
        row_.to = to;
        row_.ranks = ranks_.address();
        row_.extent = extents_.address() + t * sizeof(Extent);
        row_.prime = numbers.prime();
        row_.inverse = 1 / row_.prime;
        const auto stride = coefficient_doubles(kind_.arithmetic);
        const auto high = coefficients.begin() + row_.low_terms * stride;
        std::copy(coefficients.begin(), high, row_.coefficients);
        std::copy(high, coefficients.end(), row_.coefficients + dense_low_slots * stride);
        const std::string entry = entry_of(kernels_[t]);
        const CubeCount cubes = count_cubes(row_);
        const unsigned threads = queue_.block_threads(threads_for(cubes));
        share_out(row_, cubes, queue_.blocks_at_once(entry.c_str(), threads));
        const std::uint64_t blocks = (std::uint64_t{1} << (row_.cube_bits - row_.numbers_log2))
                                     << row_.parts_log2;
        const std::array<void *, 1> arguments{&row_};
        queue_.launch(entry.c_str(), static_cast<unsigned>(blocks), threads, arguments);
    }

    struct CubeCount {
        double cubes = 0;    // with a state
        double low_sets = 0; // of all of them
    };
    static CubeCount count_cubes(const DenseRow &row) {
        CubeCount count;
        const int closing = std::popcount(row.cube_closing);
        for (int high = 0; high <= row.cube_bits; ++high) {
            const int rest = row.to_weight - high + closing;
            const int begin = std::max(0, rest - row.cube_terms),
                      end = std::min(rest - closing, row.to_low) + 1;
            if (begin >= end) continue;
            const double cubes = subsets_of_size(row.cube_bits, high);
            count.cubes += cubes;
            count.low_sets += cubes * (row.list_begin[end] - row.list_begin[begin]);
        }
        return count;
    }

    // A thread takes a low set at a time.
    static unsigned threads_for(const CubeCount &count) {
        const double mean = count.low_sets / std::max(count.cubes, 1.0);
        unsigned threads = dense_least_threads;
        while (threads < dense_threads && 2 * threads <= mean) threads *= 2;
        return threads;
    }

    // Few cubes are shared by several blocks of threads each; of numbers that name none a block takes
    // several.
    static void share_out(DenseRow &row, const CubeCount &count, std::uint64_t blocks_at_once) {
        constexpr int most_parts = 4, most_numbers = 5;
        while (row.parts_log2 < most_parts && (blocks_at_once >> (row.cube_bits + row.parts_log2)) >= 2)
            ++row.parts_log2;
        while (row.numbers_log2 < std::min(most_numbers, row.cube_bits) &&
               std::ldexp(count.cubes, row.numbers_log2 + 1) <= std::ldexp(1.0, row.cube_bits) &&
               std::ldexp(1.0, row.cube_bits - row.numbers_log2) > static_cast<double>(blocks_at_once))
            ++row.numbers_log2;
    }

    DeviceQueue &queue_;
    const FrontierProgram &program_;
    const StateNumbers kind_;
    std::vector<CubeKernel> kernels_;                      // of each row's kernel
    DeviceArray first_, second_, lists_, ranks_, extents_; // two tables that take turns; of lists too
    Extremes most_;
    HostArray<std::byte> staged_;
    HostArray<Extent> extent_;
    DenseRowMaker maker_;
    DenseRow row_{};
};

} // namespace

const char *dense_device_why_not(const FrontierProgram &program) {
    if (program.counts) return "counts no columns of a kind in its dense form";
    const auto is_too_long = [](const FrontierStep &step) { return shape_of(step).high > dense_most_high; };
    if (program.slots > most_dense_slots || extremes(program).high > dense_most_high ||
        std::any_of(program.steps.begin(), program.steps.end(), is_too_long))
        return "can have at most 28 high slots on a GPU";
    return nullptr;
}

// Of the device's; page-locked memory is not counted.
double dense_device_bytes(const FrontierProgram &program, const StateNumbers &numbers) {
    const std::array<double, 2> tables = largest_tables(program);
    const Extremes most = extremes(program);
    return (tables[0] + tables[1]) * static_cast<double>(number_bytes(numbers)) +
           static_cast<double>(2 * most.row_bytes + most.rank_bytes + program.steps.size() * sizeof(Extent));
}

EngineResult run_dense_slice_on(DeviceQueue &queue, const FrontierRun &run, const FrontierProgram &whole,
                                double large) {
    const StateNumbers &numbers = run.input.states();
    DenseOnDevice frontier(queue, run.program, numbers, cube_kernels(whole, numbers, large));
    return compute_on_device(run, frontier);
}

namespace {

double work_of_rows(const FrontierProgram &program) {
    double work = 0;
    for (const FrontierStep &step : program.steps) work += step.expansions_bound + step.states_bound;
    return work;
}

// Cuts slices that fit what is free now.
std::vector<FrontierSlice> smaller_slices(const DeviceQueues &devices, const FrontierRun &run) {
    SliceSearch search;
    search.most_bytes = std::numeric_limits<double>::infinity();
    for (DeviceQueue *queue : devices.all())
        search.most_bytes =
            std::min(search.most_bytes, usable_of_gpu * static_cast<double>(queue->free_bytes()));
    search.needs = [&](const FrontierProgram &slice) -> SliceNeeds {
        return {work_of_rows(slice), dense_device_bytes(slice, run.input.states())};
    };
    return find_slices(run.program, search);
}

// The attempt in these slices, which follow from what memory was free: neither a first one nor a whole block.
std::uint32_t attempt_in(const std::vector<FrontierSlice> &slices) {
    const std::string digest = digest_of_bytes(written(slices));
    return 0x80000000 |
           (static_cast<std::uint32_t>(std::stoul(digest.substr(0, 8), nullptr, 16)) & 0x7ffffffe);
}

} // namespace

EngineResult run_dense_frontier_on(const DeviceQueues &devices, const FrontierRun &run,
                                   const std::vector<FrontierSlice> &slices) {
    const SliceWorkers workers{[&] { return devices.count(); },
                               [&](std::size_t k, const FrontierProgram &program) {
                                   return run_dense_slice_on(devices[k], run.of(program), run.program);
                               }};
    try {
        return run_in_slices(run, slices, workers);
    } catch (const JitError &error) {
        if (error.failure() != JitFailure::out_of_memory) throw;
        const std::vector<FrontierSlice> smaller = smaller_slices(devices, run);
        if (smaller.empty()) throw;
        log_decision(formatted("engine frontier: {}; in {} slices now", error.what(), smaller.size()));
        PieceScope scope = call().pieces();
        scope.task.attempt = attempt_in(smaller);
        CurrentCall again(1, scope);
        return run_in_slices(run, smaller, workers);
    }
}

} // namespace libperm
