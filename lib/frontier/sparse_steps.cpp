#include "lib/frontier/sparse_steps.hpp"

#include "lib/frontier/on_device.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace libperm {
namespace {

// Expanding, then halving the number of runs until one is left: at least once, which measures it.
unsigned steps_of_row(std::size_t terms) {
    return 1 + std::max(1u, static_cast<unsigned>(std::bit_width(terms - 1)));
}

// Its place in `all`.
template <class T> std::size_t append(std::vector<unsigned char> &all, const std::vector<T> &table) {
    const std::size_t place = all.size();
    const auto *bytes = reinterpret_cast<const unsigned char *>(table.data());
    all.insert(all.end(), bytes, bytes + table.size() * sizeof(T));
    return place;
}

} // namespace

SparseRow SparseRowTables::copy_in(const FrontierStep &step, const std::vector<double> &coefficients,
                                   std::uint64_t states, double prime) {
    terms_.clear();
    closings_.clear();
    floors_.clear();
    for (const FrontierTerm &t : step.terms) add(t);
    all_.clear();
    const std::size_t terms = append(all_, terms_), closings = append(all_, closings_),
                      floors = append(all_, floors_), entries = append(all_, coefficients);
    memory_.reserve(all_.size());
    queue_->copy_in(memory_.address(), all_.data(), all_.size());
    return {states,
            terms_.size(),
            closings_.size(),
            floors_.size(),
            memory_.address() + terms,
            memory_.address() + closings,
            memory_.address() + floors,
            memory_.address() + entries,
            prime,
            1 / prime};
}

void SparseRowTables::add(const FrontierTerm &t) {
    // Keys have their highest word first (lib/frontier/state_key.hpp).
    const auto word_of = [this](std::int32_t slot) {
        return static_cast<std::uint64_t>(words_ - 1 - slot / 64);
    };
    const auto shift = static_cast<std::uint64_t>(t.slot % 64);
    const std::uint64_t word = word_of(t.slot), bit = std::uint64_t{1} << shift;
    const bool is_entry = t.other_slot >= 0; // used, or not
    const std::uint64_t mask = is_entry ? bit : ((std::uint64_t{1} << t.width) - 1) << shift;
    const std::uint64_t full = is_entry ? bit : static_cast<std::uint64_t>(t.multiplicity) << shift;
    if (!is_entry) {
        terms_.push_back({bit, mask, full, word, shift, 0, word});
    } else {
        const std::uint64_t other = std::uint64_t{1} << t.other_slot % 64, other_word = word_of(t.other_slot);
        if (t.entry < 0)
            terms_.push_back({0, 0, 1, word, shift, 0, word});
        else
            terms_.push_back({bit, bit, bit, word, shift, other, other_word});
        if (t.other_closes) close(other_word, other, other);
    }
    if (t.closes)
        close(word, mask, full);
    else if (t.least > 0)
        floors_.push_back({mask, static_cast<std::uint64_t>(t.least) << shift, word});
}

void SparseRowTables::close(std::uint64_t word, std::uint64_t mask, std::uint64_t full) {
    const auto same = std::find_if(closings_.begin(), closings_.end(),
                                   [&](const SparseClosing &c) { return c.word == word; });
    if (same == closings_.end()) {
        closings_.push_back({mask, full, word});
    } else {
        same->mask |= mask;
        same->full |= full;
    }
}

SparseKernel sparse_kernel_of(const FrontierProgram &program, int words, const StateNumbers &numbers) {
    const bool entries = std::any_of(program.steps.begin(), program.steps.end(), [](const FrontierStep &s) {
        return !s.terms.empty() && s.terms.front().other_slot >= 0;
    });
    return {words, numbers, program.counts, entries};
}

SparseSteps::SparseSteps(DeviceQueue &queue, const SparseKernel &kernel, std::span<const FrontierStep> steps,
                         double room)
    : queue_(queue),
      kernel_(kernel),
      threads_(queue.block_threads(sparse_tile(kernel.words).threads)),
      tile_(threads_ * sparse_tile(kernel.words).items),
      tables_(queue, kernel.words),
      chain_(queue),
      begins_(queue),
      report_(queue),
      old_(queue, kernel.words, kernel.numbers),
      new_(queue, kernel.words, kernel.numbers) {
    double states = 1, candidates = 1;
    for (const FrontierStep &step : steps) {
        candidates = std::max(candidates, states * static_cast<double>(step.terms.size()));
        states = step.states_bound;
    }
    const double items = std::min(candidates, room / static_cast<double>(old_.item_bytes()));
    for (DeviceList *list : {&old_, &new_}) list->reserve(static_cast<std::size_t>(items) + 1);
    report_.reserve(sizeof(SparseReport));
}

void SparseSteps::begin() {
    const std::vector<std::uint64_t> no_column(static_cast<std::size_t>(kernel_.words));
    const std::vector<double> number = one_on_device(kernel_.numbers);
    old_.reserve(1);
    queue_.copy_in(old_.where().keys, no_column.data(), 8 * no_column.size());
    queue_.copy_in(old_.where().numbers, number.data(), 8 * number.size());
    old_.size = 1;
}

void SparseSteps::run(std::span<const FrontierStep> steps, DeviceNumbers &numbers, Counts &counts) {
    for (const FrontierStep &step : steps) {
        const double expansions = advance(step, numbers);
        call().advance(expansions);
        counts.operations += expansions;
        counts.states += static_cast<double>(old_.size);
        counts.peak_states = std::max(counts.peak_states, static_cast<double>(old_.size));
    }
    counts.peak_bytes = std::max(counts.peak_bytes, peak_bytes_);
}

std::vector<double> SparseSteps::first_number() const {
    std::vector<double> number(static_cast<std::size_t>(kernel_.numbers.doubles()), 0);
    if (old_.size > 0) queue_.copy_out(number.data(), old_.where().numbers, 8 * number.size());
    return number;
}

double SparseSteps::advance(const FrontierStep &step, DeviceNumbers &numbers) {
    const std::vector<double> &coefficients = numbers.begin_step(step);
    SparseReport report{0, 0, Extent{}.largest, Extent{}.smallest};
    if (old_.size > 0 && !step.terms.empty()) {
        row_ = tables_.copy_in(step, coefficients, old_.size, numbers.prime());
        unite_candidates();
        queue_.copy_out(&report, report_.address(), sizeof report);
    }
    old_.size = report.states;
    const auto expansions = static_cast<double>(report.candidates);
    const std::size_t terms = step.terms.size();
    numbers.end_step(static_cast<double>(std::bit_width(terms - 1)), expansions,
                     {report.largest, report.smallest});
    return expansions;
}

// One launch, if all that there can be has room. Else they are counted first; and once the old states are
// expanded their list is needed for the unions, and grows.
void SparseSteps::unite_candidates() {
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

std::size_t SparseSteps::count(std::size_t most) {
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
void SparseSteps::launch(unsigned step, unsigned end, std::size_t most) {
    const std::size_t tiles = most / tile_ + row_.terms + 1; // of a step
    SparseRow row = row_;
    SparseList from = old_.where(), to = new_.where();
    DeviceAddress begins = begins_.address(), report = report_.address();
    TileChain chain = chain_.next(tiles * (end - step));
    unsigned steps = steps_of_row(row_.terms);
    const std::array<void *, 9> arguments{&row, &from, &to, &begins, &report, &chain, &step, &end, &steps};
    queue_.launch(sparse_row_entry, blocks_for(sparse_row_entry, tiles), threads_, arguments);
    peak_bytes_ =
        std::max(peak_bytes_, static_cast<std::int64_t>(old_.bytes() + new_.bytes() + tables_.bytes() +
                                                        chain_.bytes() + begins_.bytes() + report_.bytes()));
}

unsigned SparseSteps::blocks_for(const char *entry, std::size_t pieces) {
    return static_cast<unsigned>(std::min<std::size_t>(queue_.blocks_at_once(entry, threads_), pieces));
}

namespace {

class SparseOnDevice final : public DeviceFrontier {
  public:
    SparseOnDevice(DeviceQueue &queue, const FrontierProgram &program, const SparseKernel &kernel,
                   double room)
        : program_(program), steps_(queue, kernel, program.steps, room) {}

    std::vector<double> compute(DeviceNumbers &numbers, Counts &counts) override {
        steps_.begin();
        steps_.run(program_.steps, numbers, counts);
        return steps_.first_number();
    }

  private:
    const FrontierProgram &program_;
    SparseSteps steps_;
};

} // namespace

double sparse_device_bytes(double peak_states, double peak_candidates, int key_words,
                           const StateNumbers &numbers) {
    const auto state = static_cast<double>(8 * key_words + number_bytes(numbers));
    const double list = std::max(state * std::max(peak_states, peak_candidates), sparse_device_room);
    return 2 * list * (17.0 / 16) * 1.01 + 1e6; // and tiles' words, a row's tables
}

EngineResult run_sparse_frontier_on(DeviceQueue &queue, const FrontierRun &run, double room) {
    const int words = sparse_device_words(run.program);
    if (words == 0) throw_too_wide(run.program);
    const SparseKernel kernel = sparse_kernel_of(run.program, words, run.input.states());
    queue.load(sparse_frontier_kernels(kernel));
    SparseOnDevice frontier(queue, run.program, kernel, room);
    return compute_on_device(run, frontier);
}

} // namespace libperm
