#include "lib/frontier/device_numbers.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/frontier/sparse_row.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace libperm {
namespace {

// Expanding, then halving the number of runs until one is left: at least once, which measures it.
unsigned steps_of_row(std::size_t terms) {
    return 1 + std::max(1u, static_cast<unsigned>(std::bit_width(terms - 1)));
}

class StateList {
  public:
    StateList(DeviceQueue &queue, int words, const StateNumbers &numbers)
        : memory_(queue),
          key_bytes_(8 * static_cast<std::size_t>(words)),
          number_bytes_(static_cast<std::size_t>(number_bytes(numbers))) {}

    std::size_t item_bytes() const { return key_bytes_ + number_bytes_; }
    std::size_t bytes() const { return memory_.bytes(); }
    std::size_t capacity() const { return capacity_; }

    // A sixteenth more than asked, so that growing stays cheap. What was there is lost if it grows.
    void reserve(std::size_t count) {
        if (count <= capacity_) return;
        const std::size_t capacity = (count + count / 16 + 1) & ~std::size_t{1}; // numbers are aligned to 16
        capacity_ = 0;
        memory_.reserve(capacity * item_bytes());
        capacity_ = capacity;
    }
    SparseList where() const { return {memory_.address(), memory_.address() + capacity_ * key_bytes_}; }

  private:
    DeviceArray memory_;
    std::size_t key_bytes_, number_bytes_;
    std::size_t capacity_ = 0;
};

// The words that blocks of a launch share (jit/device/chained_tiles.cuh).
class Chain {
  public:
    explicit Chain(DeviceQueue &queue) : queue_(&queue), memory_(queue) {}

    TileChain next(std::size_t tiles) {
        if (tiles > tiles_ || launch_ == most_chained_launches) {
            tiles_ = std::max(tiles, 2 * tiles_);
            launch_ = 0;
            const std::vector<std::uint64_t> zeros(2 + tiles_);
            memory_.reserve(8 * zeros.size());
            queue_->copy_in(memory_.address(), zeros.data(), 8 * zeros.size());
        }
        return {++launch_, memory_.address(), memory_.address() + 8, memory_.address() + 16};
    }
    std::size_t bytes() const { return memory_.bytes(); }

  private:
    DeviceQueue *queue_;
    DeviceArray memory_;
    std::size_t tiles_ = 0;
    std::uint64_t launch_ = 0;
};

class SparseOnDevice {
  public:
    SparseOnDevice(DeviceQueue &queue, const FrontierProgram &program, RunControl &control,
                   const StateNumbers &numbers, double room)
        : queue_(queue),
          program_(program),
          control_(control),
          words_(sparse_key_words(program)),
          threads_(queue.block_threads(sparse_tile(words_).threads)),
          tile_(threads_ * sparse_tile(words_).items),
          tables_(queue, words_),
          chain_(queue),
          begins_(queue),
          report_(queue),
          old_(queue, words_, numbers),
          new_(queue, words_, numbers) {
        if (words_ == 0) throw_too_wide(program);
        queue.load(sparse_frontier_kernels({words_, numbers, program.counts}));
        double states = 1, candidates = 1;
        for (const FrontierStep &step : program.steps) {
            candidates = std::max(candidates, states * static_cast<double>(step.terms.size()));
            states = step.states_bound;
        }
        const double items = std::min(candidates, room / static_cast<double>(old_.item_bytes()));
        for (StateList *list : {&old_, &new_}) list->reserve(static_cast<std::size_t>(items) + 1);
        report_.reserve(sizeof(SparseReport));
    }

    // The last state's number.
    std::vector<double> compute(DeviceNumbers &numbers, Counts &counts) {
        const std::vector<std::uint64_t> no_column(static_cast<std::size_t>(words_));
        std::vector<double> number = numbers.one();
        queue_.copy_in(old_.where().keys, no_column.data(), 8 * no_column.size());
        queue_.copy_in(old_.where().numbers, number.data(), 8 * number.size());
        states_ = 1;
        for (const FrontierStep &step : program_.steps) {
            const double expansions = advance(step, numbers);
            counts.operations += expansions;
            counts.states += static_cast<double>(states_);
            counts.peak_states = std::max(counts.peak_states, static_cast<double>(states_));
        }
        counts.peak_bytes = std::max(counts.peak_bytes, peak_bytes_);
        std::fill(number.begin(), number.end(), 0);
        if (states_ > 0) queue_.copy_out(number.data(), old_.where().numbers, 8 * number.size());
        return number;
    }

  private:
    double advance(const FrontierStep &step, DeviceNumbers &numbers) {
        const std::vector<double> &coefficients = numbers.begin_step(step);
        SparseReport report{0, 0, Extent{}.largest, Extent{}.smallest};
        if (states_ > 0 && !step.terms.empty()) {
            row_ = tables_.copy_in(step, coefficients, states_, numbers.prime());
            unite_candidates();
            queue_.copy_out(&report, report_.address(), sizeof report);
        }
        states_ = report.states;
        const auto expansions = static_cast<double>(report.candidates);
        const std::size_t terms = step.terms.size();
        numbers.end_step(static_cast<double>(std::bit_width(terms - 1)), expansions,
                         {report.largest, report.smallest});
        control_.advance(expansions);
        return expansions;
    }

    // One launch, if all that there can be has room. Else they are counted first; and once the old states are
    // expanded their list is needed for the unions, and grows.
    void unite_candidates() {
        const unsigned steps = steps_of_row(row_.terms);
        const std::size_t most = row_.states * row_.terms;
        begins_.reserve(8 * (2 * row_.terms + 2 * steps));
        if (most <= std::min(old_.capacity(), new_.capacity())) {
            launch(0, steps, most);
        } else {
            const std::size_t candidates = count(most);
            new_.reserve(candidates);
            launch(0, 1, most);
            old_.reserve(candidates);
            for (unsigned step = 1; step < steps; ++step) launch(step, step + 1, candidates);
        }
        if (steps % 2 != 0) std::swap(old_, new_);
    }

    std::size_t count(std::size_t most) {
        SparseReport report{};
        queue_.copy_in(report_.address(), &report, sizeof report);
        SparseRow row = row_;
        DeviceAddress keys = old_.where().keys, to = report_.address();
        const std::array<void *, 3> arguments{&row, &keys, &to};
        const unsigned blocks = blocks_for(sparse_count_entry, most / threads_ + 1);
        queue_.launch(sparse_count_entry, blocks, threads_, arguments);
        queue_.copy_out(&report, report_.address(), sizeof report);
        return report.candidates;
    }

    // Steps of the row, none of which has more than `most` items.
    void launch(unsigned step, unsigned end, std::size_t most) {
        const std::size_t tiles = most / tile_ + row_.terms + 1; // of a step
        SparseRow row = row_;
        SparseList from = old_.where(), to = new_.where();
        DeviceAddress begins = begins_.address(), report = report_.address();
        TileChain chain = chain_.next(tiles * (end - step));
        unsigned steps = steps_of_row(row_.terms);
        const std::array<void *, 9> arguments{&row,   &from, &to,  &begins, &report,
                                              &chain, &step, &end, &steps};
        queue_.launch(sparse_row_entry, blocks_for(sparse_row_entry, tiles), threads_, arguments);
        peak_bytes_ = std::max(peak_bytes_,
                               static_cast<std::int64_t>(old_.bytes() + new_.bytes() + tables_.bytes() +
                                                         chain_.bytes() + begins_.bytes() + report_.bytes()));
    }

    unsigned blocks_for(const char *entry, std::size_t pieces) {
        return static_cast<unsigned>(std::min<std::size_t>(queue_.blocks_at_once(entry, threads_), pieces));
    }

    DeviceQueue &queue_;
    const FrontierProgram &program_;
    RunControl &control_;
    int words_;
    unsigned threads_, tile_;
    SparseRowTables tables_;
    Chain chain_;
    DeviceArray begins_, report_;
    StateList old_, new_;
    SparseRow row_{};
    std::uint64_t states_ = 1;
    std::int64_t peak_bytes_ = 0;
};

} // namespace

double sparse_device_bytes(double peak_states, double peak_candidates, int key_words,
                           const StateNumbers &numbers) {
    const auto state = static_cast<double>(8 * key_words + number_bytes(numbers));
    const double list = std::max(state * std::max(peak_states, peak_candidates), sparse_device_room);
    return 2 * list * (17.0 / 16) * 1.01 + 1e6; // and tiles' words, a row's tables
}

EngineResult run_sparse_frontier_on(DeviceQueue &queue, const FrontierRun &run, double room) {
    return compute_on_device(run, [&](RunControl &control) {
        return SparseOnDevice(queue, run.program, control, run.input.states(), room);
    });
}

} // namespace libperm
