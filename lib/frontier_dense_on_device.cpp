#include "lib/frontier_dense_row.hpp"
#include "lib/frontier_ledger.hpp"
#include "lib/frontier_on_device.hpp"

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
    DenseOnDevice(DeviceQueue &queue, const FrontierRun &run, bool nonnegative, const FrontierProgram &whole)
        : queue_(queue),
          run_(run),
          ledger_(run.block),
          shapes_(kernel_shapes(whole)),
          number_bytes_(static_cast<std::size_t>(number_bytes(nonnegative))),
          old_(queue),
          new_(queue),
          lists_(queue),
          ranks_(queue),
          extents_(queue) {
        std::vector<KernelRecipe> kernels;
        for (const RowShape &shape : std::set<RowShape>(shapes_.begin(), shapes_.end()))
            kernels.push_back(dense_frontier_kernel(nonnegative, shape));
        queue.load(kernels);
        const std::array<double, 2> tables = largest_tables(run.program);
        new_.reserve(static_cast<std::size_t>(tables[0]) * number_bytes_);
        old_.reserve(static_cast<std::size_t>(tables[1]) * number_bytes_);
        const Extremes most = extremes(run.program);
        lists_.reserve(most.row_bytes);
        const std::vector<std::uint32_t> ranks = combination_ranks(most.high);
        ranks_.reserve(ranks.size() * sizeof ranks.front());
        queue.copy_in(ranks_.address(), ranks.data(), ranks.size() * sizeof ranks.front());
        const std::vector<Extent> extents(run.program.steps.size());
        extents_.reserve(extents.size() * sizeof(Extent));
        queue.copy_in(extents_.address(), extents.data(), extents.size() * sizeof(Extent));
    }

    Outcome compute() {
        Outcome outcome;
        outcome.on_gpu = true;
        constexpr std::array<double, 2> one{1, 1};
        queue_.copy_in(old_.address(), one.data(), number_bytes_);
        maker_.advance(run_.program.steps.front());
        for (std::size_t t = 0; t < run_.program.steps.size(); ++t) {
            const FrontierStep &step = run_.program.steps[t];
            start(step, t);
            if (t + 1 < run_.program.steps.size()) maker_.advance(run_.program.steps[t + 1]); // meanwhile
            Extent extent;
            queue_.copy_out(&extent, extents_.address() + t * sizeof(Extent), sizeof extent);
            ledger_.end_step(static_cast<double>(step.terms.size()) - 1, step.expansions_bound, extent);
            run_.control.advance(step.expansions_bound);
            std::swap(old_, new_);
            const double states = subsets_of_size(step.width_after, step.used_after);
            outcome.operations += step.expansions_bound;
            outcome.states += states;
            outcome.peak_states = std::max(outcome.peak_states, states);
        }
        outcome.peak_bytes = static_cast<std::int64_t>(old_.bytes() + new_.bytes() + lists_.bytes() +
                                                       ranks_.bytes() + extents_.bytes());
        std::array<double, 2> last{};
        queue_.copy_out(last.data(), old_.address(), number_bytes_);
        ledger_.close(last[0], number_bytes_ == sizeof last ? last[1] : last[0], outcome);
        return outcome;
    }

  private:
    void start(const FrontierStep &step, std::size_t t) {
        const std::vector<Coefficient> &coefficients = ledger_.begin_step(step);
        const std::size_t high_bytes = maker_.high().size() * sizeof(DenseHighSet);
        queue_.copy_in(lists_.address(), maker_.high().data(), high_bytes);
        queue_.copy_in(lists_.address() + high_bytes, maker_.places().data(),
                       maker_.places().size() * sizeof(std::uint16_t));
        DenseRow row = maker_.row();
        row.from = old_.address();
        row.to = new_.address();
        row.high = lists_.address();
        row.places = lists_.address() + high_bytes;
        row.ranks = ranks_.address();
        row.extent = extents_.address() + t * sizeof(Extent);
        for (std::size_t k = 0; k < coefficients.size(); ++k) {
            const auto low = static_cast<std::size_t>(row.low_terms);
            double *to = k < low ? row.low_coefficient[k] : row.high_coefficient[k - low];
            to[0] = coefficients[k].value;
            to[1] = coefficients[k].magnitude;
        }
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
    const FrontierRun &run_;
    FrontierLedger ledger_;
    std::vector<RowShape> shapes_; // of each row's kernel
    std::size_t number_bytes_;
    DeviceArray old_, new_, lists_, ranks_, extents_;
    DenseRowMaker maker_;
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

double dense_device_bytes(const FrontierProgram &program, bool nonnegative) {
    const std::array<double, 2> tables = largest_tables(program);
    const Extremes most = extremes(program);
    return (tables[0] + tables[1]) * static_cast<double>(number_bytes(nonnegative)) +
           static_cast<double>(most.row_bytes + most.rank_bytes + program.steps.size() * sizeof(Extent));
}

Outcome run_dense_frontier_on(DeviceQueue &queue, const FrontierRun &run, bool nonnegative,
                              const FrontierProgram &whole) {
    return DenseOnDevice(queue, run, nonnegative, whole).compute();
}

} // namespace libperm
