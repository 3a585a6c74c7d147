#include "lib/frontier/dense_row.hpp"
#include "lib/frontier/device_numbers.hpp"
#include "lib/frontier/on_device.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>

namespace libperm {
namespace {

// Open high slots at most, and bytes of a row's lists and of the ranks.
struct Extremes {
    int high = 0;
    std::size_t row_bytes = 0, rank_bytes = 0;
};
Extremes extremes(const FrontierProgram &program) {
    Extremes most;
    SlotSet open = 0;
    for (const FrontierStep &step : program.steps) {
        for (const FrontierTerm &t : step.terms) open |= SlotSet{1} << t.slot;
        for (const FrontierTerm &t : step.terms)
            if (t.closes) open &= ~(SlotSet{1} << t.slot);
        most.high = std::max(most.high, std::popcount(open & ~low_mask));
        const auto low = static_cast<std::size_t>(shape_of(step).low);
        most.row_bytes = std::max(most.row_bytes, ((low + 1) * 2) << low_slots);
    }
    const std::size_t lower = std::size_t{1} << std::min(most.high, dense_chunk_bits),
                      upper =
                          most.high > dense_chunk_bits ? std::size_t{1} << (most.high - dense_chunk_bits) : 0;
    most.row_bytes += sizeof(DenseHighSet) * (lower + upper);
    most.rank_bytes = sizeof(std::uint32_t) * (lower + (dense_chunk_bits + 1) * upper);
    return most;
}

class DenseOnDevice {
  public:
    DenseOnDevice(DeviceQueue &queue, const FrontierProgram &program, RunControl &control,
                  const StateNumbers &numbers, const FrontierProgram &whole)
        : queue_(queue),
          program_(program),
          control_(control),
          shapes_(kernel_shapes(whole)),
          first_(queue),
          second_(queue),
          lists_(queue),
          ranks_(queue),
          extents_(queue) {
        std::vector<KernelRecipe> kernels;
        for (const RowShape &shape : std::set<RowShape>(shapes_.begin(), shapes_.end()))
            kernels.push_back(dense_frontier_kernel(numbers, shape));
        queue.load(kernels);
        const std::array<double, 2> tables = largest_tables(program);
        const auto bytes = static_cast<std::size_t>(number_bytes(numbers));
        first_.reserve(static_cast<std::size_t>(tables[0]) * bytes);
        second_.reserve(static_cast<std::size_t>(tables[1]) * bytes);
        const Extremes most = extremes(program);
        lists_.reserve(most.row_bytes);
        const std::vector<std::uint32_t> ranks = combination_ranks(most.high);
        ranks_.reserve(ranks.size() * sizeof ranks.front());
        queue.copy_in(ranks_.address(), ranks.data(), ranks.size() * sizeof ranks.front());
        extents_.reserve(program.steps.size() * sizeof(Extent));
    }

    // The last state's number.
    std::vector<double> compute(DeviceNumbers &numbers, Counts &counts) {
        const std::vector<Extent> extents(program_.steps.size());
        queue_.copy_in(extents_.address(), extents.data(), extents.size() * sizeof(Extent));
        std::vector<double> number = numbers.one();
        DeviceAddress from = second_.address(), to = first_.address();
        queue_.copy_in(from, number.data(), 8 * number.size());
        DenseRowMaker maker;
        maker.advance(program_.steps.front());
        for (std::size_t t = 0; t < program_.steps.size(); ++t) {
            const FrontierStep &step = program_.steps[t];
            start(numbers, maker, t, from, to);
            if (t + 1 < program_.steps.size()) maker.advance(program_.steps[t + 1]); // meanwhile
            Extent extent;
            queue_.copy_out(&extent, extents_.address() + t * sizeof(Extent), sizeof extent);
            numbers.end_step(static_cast<double>(step.terms.size()) - 1, step.expansions_bound, extent);
            control_.advance(step.expansions_bound);
            std::swap(from, to);
            const double states = subsets_of_size(step.width_after, step.used_after);
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
    void start(DeviceNumbers &numbers, const DenseRowMaker &maker, std::size_t t, DeviceAddress from,
               DeviceAddress to) {
        const std::vector<double> &coefficients = numbers.begin_step(program_.steps[t]);
        const std::size_t high_bytes = maker.high().size() * sizeof(DenseHighSet);
        queue_.copy_in(lists_.address(), maker.high().data(), high_bytes);
        queue_.copy_in(lists_.address() + high_bytes, maker.places().data(),
                       maker.places().size() * sizeof(std::uint16_t));
        DenseRow row = maker.row();
        row.from = from;
        row.to = to;
        row.high = lists_.address();
        row.places = lists_.address() + high_bytes;
        row.ranks = ranks_.address();
        row.extent = extents_.address() + t * sizeof(Extent);
        row.prime = numbers.prime();
        row.inverse = 1 / row.prime;
        const auto stride = coefficient_doubles(numbers.kind().arithmetic);
        const auto high = coefficients.begin() + row.low_terms * stride;
        std::copy(coefficients.begin(), high, row.coefficients);
        std::copy(high, coefficients.end(), row.coefficients + dense_low_slots * stride);
        const std::string entry = entry_of(shapes_[t]);
        const unsigned threads = queue_.block_threads(dense_threads), warps = threads / dense_warp;
        share_out(row, warps * queue_.blocks_at_once(entry.c_str(), threads));
        const std::uint64_t items = (std::uint64_t{1} << (row.high_bits - row.numbers_log2))
                                    << row.parts_log2;
        const std::array<void *, 1> arguments{&row};
        queue_.launch(entry.c_str(), static_cast<unsigned>((items + warps - 1) / warps), threads, arguments);
    }

    // Few blocks are shared by several warps each; of numbers that name none a warp takes several.
    static void share_out(DenseRow &row, std::uint64_t warps_at_once) {
        constexpr int most_parts = 5, most_numbers = 5;
        while (row.parts_log2 < most_parts && (warps_at_once >> (row.high_bits + row.parts_log2)) >= 2)
            ++row.parts_log2;
        double blocks = 0;
        for (int high = 0; high <= row.high_bits; ++high)
            if (high <= row.to_weight && row.to_weight - high <= row.to_low)
                blocks += subsets_of_size(row.high_bits, high);
        while (row.numbers_log2 < std::min(most_numbers, row.high_bits) &&
               std::ldexp(blocks, row.numbers_log2 + 1) <= std::ldexp(1.0, row.high_bits) &&
               std::ldexp(1.0, row.high_bits - row.numbers_log2) > static_cast<double>(warps_at_once))
            ++row.numbers_log2;
    }

    DeviceQueue &queue_;
    const FrontierProgram &program_;
    RunControl &control_;
    std::vector<RowShape> shapes_;                         // of each row's kernel
    DeviceArray first_, second_, lists_, ranks_, extents_; // two tables that take turns
};

} // namespace

const char *dense_device_why_not(const FrontierProgram &program) {
    if (program.counts) return "counts no columns of a kind in its dense form";
    const auto is_too_long = [](const FrontierStep &step) { return shape_of(step).high > dense_most_high; };
    if (program.slots > 64 || extremes(program).high > dense_most_high ||
        std::any_of(program.steps.begin(), program.steps.end(), is_too_long))
        return "can have at most 28 high slots on a GPU";
    return nullptr;
}

double dense_device_bytes(const FrontierProgram &program, const StateNumbers &numbers) {
    const std::array<double, 2> tables = largest_tables(program);
    const Extremes most = extremes(program);
    return (tables[0] + tables[1]) * static_cast<double>(number_bytes(numbers)) +
           static_cast<double>(most.row_bytes + most.rank_bytes + program.steps.size() * sizeof(Extent));
}

EngineResult run_dense_slice_on(DeviceQueue &queue, const FrontierRun &run, const FrontierProgram &whole) {
    return compute_on_device(run, [&](RunControl &control) {
        return DenseOnDevice(queue, run.program, control, run.input.states(), whole);
    });
}

} // namespace libperm
