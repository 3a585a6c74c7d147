#include "lib/frontier/slices.hpp"

#include "jit/driver/jit_error.hpp"
#include "lib/base/work_sharing.hpp"
#include "lib/number/ball.hpp"
#include "lib/run/outcome_bytes.hpp"
#include "lib/run/pieces.hpp"

#include <algorithm>
#include <optional>

namespace libperm {

Ball sum_of(const std::vector<Ball> &numbers) {
    if (numbers.empty()) return {};
    std::vector<Ball> sums = numbers;
    while (sums.size() > 1) {
        const std::size_t pairs = sums.size() / 2;
        for (std::size_t k = 0; k < pairs; ++k) sums[k] = sums[2 * k] + sums[2 * k + 1];
        if (sums.size() % 2 == 1) sums[pairs] = sums.back();
        sums.resize(pairs + sums.size() % 2);
    }
    return sums.front();
}

void add_counts(Outcome &sum, const Outcome &one) {
    sum.on_gpu = one.on_gpu;
    sum.states += one.states;
    sum.peak_states = std::max(sum.peak_states, one.peak_states);
    sum.operations += one.operations;
    sum.peak_bytes = std::max(sum.peak_bytes, one.peak_bytes);
    sum.seconds_compile += one.seconds_compile;
    sum.kernels_compiled += one.kernels_compiled;
    sum.slices += one.slices;
}

namespace {

double work_of(const FrontierProgram &program) {
    double work = 0;
    for (const FrontierStep &step : program.steps) work += step.expansions_bound;
    return work;
}

// Of one slice, on average: together they are more than the whole.
double work_of_slice(const FrontierProgram &program, const std::vector<FrontierSlice> &slices) {
    if (slices.empty()) return work_of(program);
    double work = 0;
    for (const FrontierSlice &slice : slices) work += work_of(slice_of(program, slice));
    return work / static_cast<double>(slices.size());
}

// What a device's own failure is: another's memory would not be enough either.
bool is_of_its_device(const std::exception_ptr &error) {
    try {
        std::rethrow_exception(error);
    } catch (const JitError &failure) {
        return failure.failure() != JitFailure::out_of_memory;
    } catch (...) {
        return false;
    }
}

template <class Part>
std::vector<Part> parts_of_slices(const FrontierProgram &program, const std::vector<FrontierSlice> &slices,
                                  const SliceWorkers<Part> &workers, RunControl &control) {
    const auto compute = [&](std::span<const std::uint64_t> todo, const auto &done) {
        const auto run = [&](std::size_t worker, std::span<const std::uint64_t> pieces) {
            for (const std::uint64_t k : pieces) {
                control.begin_piece();
                done(k, slices.empty() ? workers.run(worker, program)
                                       : workers.run(worker, slice_of(program, slices[k])));
            }
        };
        share_out(todo, workers.count(),
                  {[](std::size_t) { return std::uint64_t{1}; }, run,
                   [](std::size_t, const std::exception_ptr &error) { return is_of_its_device(error); }});
    };
    const std::size_t pieces = std::max<std::size_t>(slices.size(), 1);
    const double work = control.pieces().store ? work_of_slice(program, slices) : 0; // none is known without
    return parts_of_pieces(control, pieces, work, Part(), compute);
}

} // namespace

Outcome run_in_slices(const FrontierProgram &program, const std::vector<FrontierSlice> &slices,
                      const SliceWorkers<Outcome> &workers, RunControl &control) {
    std::vector<Outcome> parts = parts_of_slices(program, slices, workers, control);
    if (slices.empty()) return std::move(parts.front());
    Outcome sum;
    std::vector<Ball> numbers, errors;
    std::optional<Gaussian> wide;
    for (const Outcome &one : parts) {
        numbers.push_back({one.value, one.error});
        errors.push_back({{}, one.error});
        if (one.wide) wide = wide ? *wide + *one.wide : *one.wide; // exactly
        add_counts(sum, one);
    }
    sum.slices = static_cast<std::int32_t>(slices.size());
    if (wide)
        set_value(sum, WideBall{*wide, sum_of(errors).error});
    else
        set_value(sum, sum_of(numbers));
    return sum;
}

void save_part(cereal::PortableBinaryOutputArchive &ar, const ResidueSlice &slice) {
    ar(slice.permanents);
    save_part(ar, slice.counts);
}
void load_part(cereal::PortableBinaryInputArchive &ar, ResidueSlice &slice) {
    ar(slice.permanents);
    load_part(ar, slice.counts);
}

std::vector<std::uint64_t> run_in_slices(const Residues &residues, const FrontierProgram &program,
                                         const std::vector<FrontierSlice> &slices,
                                         const SliceWorkers<ResidueSlice> &workers, RunControl &control,
                                         Outcome &counts) {
    std::vector<std::uint64_t> sums(residues.primes.size(), 0);
    Outcome all;
    for (const ResidueSlice &one : parts_of_slices(program, slices, workers, control)) {
        // Those of other shards have none.
        for (std::size_t k = 0; k < std::min(sums.size(), one.permanents.size()); ++k)
            sums[k] = (sums[k] + one.permanents[k]) % residues.primes[k];
        add_counts(all, one.counts);
    }
    all.slices = static_cast<std::int32_t>(slices.size());
    add_counts(counts, all);
    return sums;
}

} // namespace libperm
