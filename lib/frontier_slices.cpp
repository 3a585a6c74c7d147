#include "lib/frontier_slices.hpp"

#include "lib/ball.hpp"

#include <algorithm>

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

Outcome run_slices(const FrontierProgram &program, const std::vector<FrontierSlice> &slices,
                   const std::function<Outcome(const FrontierProgram &)> &run) {
    Outcome sum;
    sum.slices = static_cast<std::int32_t>(slices.size());
    std::vector<Ball> numbers;
    for (const FrontierSlice &slice : slices) {
        const Outcome one = run(slice_of(program, slice));
        numbers.push_back({one.value, one.error});
        sum.on_gpu = one.on_gpu;
        sum.states += one.states;
        sum.peak_states = std::max(sum.peak_states, one.peak_states);
        sum.operations += one.operations;
        sum.peak_bytes = std::max(sum.peak_bytes, one.peak_bytes);
        sum.seconds_compile += one.seconds_compile;
        sum.kernels_compiled += one.kernels_compiled;
    }
    set_value(sum, sum_of(numbers));
    return sum;
}

} // namespace libperm
