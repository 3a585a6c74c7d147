#include "lib/subsets/cost.hpp"

#include "jit/kernel/subset_source.hpp"
#include "jit/kernel/tree.hpp"
#include "jit/lanes/tree_walk.hpp"
#include "lib/subsets/tree_plan.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

double segments_of(const SubsetPlan &plan) { return std::ldexp(plan.subsets, -plan.kernel.segment_bits); }

double segment_bytes(double segments) { return 24.0 * segments; }

// Of a kernel that is not in the cache: part of the choice, whether it is or not.
double compile_seconds(const SubsetKernel &kernel) {
    constexpr double begin = 0.35, line = 4e-4;
    constexpr double loops = 0.25; // of `dense`, over all rows, in the walk and in what sums segments again
    if (kernel.engine == SubsetEngine::tree)
        return begin + line * static_cast<double>(tree_text_size(kernel));
    if (kernel.engine == SubsetEngine::dense) return begin + loops;
    const double entries = values_by_parameter(kernel) ? static_cast<double>(kernel.row.size()) : 0;
    return begin + 1.5e-3 * entries + 1.5e-6 * entries * entries;
}

} // namespace

Cost tree_cost(const SubsetPlan &plan) {
    Cost cost;
    cost.subsets = plan.subsets;
    cost.operations = plan.subsets * plan.flops_per_subset;
    const double segments = segments_of(plan),
                 lanes = std::ceil(segments / TreeWalk::lanes) * TreeWalk::lanes;
    cost.serial_seconds = call_seconds + cost.operations * (lanes / segments) /
                                             tree_operations_per_second(plan.kernel.n, plan.flops_per_subset);
    cost.bytes = segment_bytes(static_cast<double>(window_segments(plan.kernel))) + 1e6;
    return cost;
}

Cost subsets_cost(const SubsetPlan &plan, const GpuProperties &gpu) {
    // Of what the double-precision units can take: by trees, by others.
    const bool is_tree = plan.kernel.engine == SubsetEngine::tree; // its operations are those of the kernel
    const double issued = is_tree ? 0.8 : 0.65;
    constexpr double shared_bandwidth = 90; // bytes a clock of one multiprocessor, of 128
    constexpr double global_number = 8;     // as many flops as one number to or from global memory costs
    const double clocks = gpu.clock_hz * gpu.multiprocessors;
    // What the compiler leaves of straight-line code: half, unless a column's change changes most rows.
    const double n = plan.kernel.n, fill = static_cast<double>(plan.kernel.row.size()) / (n * n);
    const double shared_products = 0.57 + 1.3 * std::max(0.0, fill - 0.5);
    const double flops = (plan.flops_per_subset + global_number * plan.global_per_subset) *
                         (values_by_parameter(plan.kernel) && !is_tree ? shared_products : 1);
    const double busy = is_tree ? std::min(1.0, segments_of(plan) / (256.0 * gpu.multiprocessors)) : 1;
    const double seconds_per_subset = std::max(flops / (gpu.fp64_lanes * issued * clocks * busy),
                                               plan.bytes_per_subset / (shared_bandwidth * clocks));
    const double compile = compile_seconds(plan.kernel);
    Cost cost;
    cost.subsets = plan.subsets;
    cost.operations = plan.subsets * plan.flops_per_subset;
    cost.compile_seconds = compile;
    cost.serial_seconds = compile + plan.subsets * seconds_per_subset;
    // Of the GPU: the sums of a window's segments, and row sums of every thread.
    constexpr double chosen = 8; // bytes: the number of a segment that is summed again
    const double segments = std::min(segments_of(plan), static_cast<double>(most_segments));
    cost.bytes = segment_bytes(segments) + chosen * segments +
                 8.0 * static_cast<double>(global_rows(plan.kernel)) * gpu.threads * gpu.multiprocessors;
    return cost;
}

Slowdown subsets_slowdown(bool on_gpu, const Numbers &numbers, double bits) {
    // On a GPU the plan, made for its arithmetic, says it already.
    const Pace pace = on_gpu ? Pace{1, 1, 1, 1, modular_bits} : Pace{3.2, 3.7, 15, 3, modular_bits};
    return pace.slowdown(numbers, bits);
}

} // namespace libperm
