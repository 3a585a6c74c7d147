#include "lib/frontier_slices.hpp"

#include "lib/ball.hpp"

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

Outcome run_slices(const FrontierProgram &program, const std::vector<FrontierSlice> &slices,
                   const std::function<Outcome(const FrontierProgram &)> &run) {
    Outcome sum;
    std::vector<Ball> numbers, errors;
    std::optional<Gaussian> wide;
    for (const FrontierSlice &slice : slices) {
        const Outcome one = run(slice_of(program, slice));
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

std::vector<std::uint64_t> run_residue_slices(const Residues &residues, const FrontierProgram &program,
                                              const std::vector<FrontierSlice> &slices,
                                              const ResidueSliceRun &run, Outcome &counts) {
    std::vector<std::uint64_t> sums(residues.primes.size(), 0);
    Outcome all;
    for (const FrontierSlice &slice : slices) {
        const std::vector<std::uint64_t> one = run(slice_of(program, slice), all);
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = (sums[k] + one[k]) % residues.primes[k];
    }
    all.slices = static_cast<std::int32_t>(slices.size());
    add_counts(counts, all);
    return sums;
}

} // namespace libperm
