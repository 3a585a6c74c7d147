#include "lib/subsets/subset_sum.hpp"

#include "lib/input/options.hpp"
#include "lib/subsets/fixed_point_double.hpp"
#include "lib/subsets/fixed_point_wide.hpp"
#include "lib/subsets/kernel_on_device.hpp"
#include "lib/subsets/residue_values.hpp"
#include "lib/subsets/tree_on_cpu.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

namespace libperm {
namespace {

// Each matrix's sum over all subsets.
std::vector<SubsetSum> sums_of(const SubsetPlan &plan, const std::vector<SubsetMatrix> &matrices,
                               const SubsetDevices &devices, RunControl &control, std::int64_t &bytes) {
    std::atomic<std::int64_t> peak_bytes = 0;
    const bool refines = std::any_of(matrices.begin(), matrices.end(), [](const SubsetMatrix &m) {
        return m.refined.most < std::numeric_limits<double>::infinity();
    });
    const auto open = [&] {
        WindowWorkers workers;
        if (devices.cpu) workers.push_back(tree_on_cpu(plan, control));
        if (!devices.gpus) return workers;
        const double seconds = devices.seconds / static_cast<double>(matrices.size());
        for (DeviceQueue *queue : devices.gpus->all())
            workers.push_back(kernel_on_device(*queue, plan, refines, seconds, control, peak_bytes));
        return workers;
    };
    std::vector<SubsetSum> sums = sum_windows(plan, matrices, open, control);
    bytes = devices.gpus ? peak_bytes.load()
                         : static_cast<std::int64_t>(window_segments(plan.kernel)) * 8 *
                               partial_doubles(plan.kernel.arithmetic);
    return sums;
}

} // namespace

EngineResult run_subset_sum(const SubsetPlan &plan, const EngineInput &input, const SubsetDevices &devices,
                            RunControl &control) {
    std::int64_t bytes = 0;
    const auto sum_over_subsets = [&](const std::vector<double> &numbers, const RefinedSegments &refined) {
        return sums_of(plan, {{numbers, refined}}, devices, control, bytes).front();
    };
    EngineResult result;
    if (const Residues *residues = input.residues()) {
        std::vector<SubsetMatrix> matrices;
        for (std::size_t k = 0; k < residues->primes.size(); ++k)
            matrices.push_back({residue_values(plan, *residues, k), {}});
        const std::vector<SubsetSum> sums = sums_of(plan, matrices, devices, control, bytes);
        ResidueVector permanents;
        for (std::size_t k = 0; k < sums.size(); ++k)
            permanents.push_back(residue_permanent(plan, sums[k].sum, residues->primes[k]));
        result.value = std::move(permanents);
        result.counts.subsets = plan.subsets;
    } else if (const Block *block = input.block()) {
        const FixedPointDouble values(plan, *block);
        const RefinedSegments refined =
            values.may_reach(plan.tolerance) ? choose_refined(plan, values.numbers()) : RefinedSegments();
        result = values.close(sum_over_subsets(values.numbers(), refined), *block, way_of(plan.kernel));
    } else {
        const FixedPointWide values(plan, *input.exact());
        result = values.close(sum_over_subsets(values.numbers(), {}), plan.kernel);
    }
    result.counts.operations = result.counts.subsets * plan.flops_per_subset;
    result.counts.peak_bytes = bytes;
    return result;
}

EngineResult run_subsets(const EngineRun &run, const EngineInput &input) {
    const Candidate &choice = run.choice;
    SubsetDevices devices;
    devices.cpu = !choice.on_gpu || (run.options.cpu_too && facts_of(choice.engine).on_cpu);
    if (choice.on_gpu) devices.gpus = run.gpus.when_needed();
    devices.seconds = choice.cost.serial_seconds;
    EngineResult result = run_subset_sum(*plan_as<SubsetPlan>(choice), input, devices, run.control);
    if (const Residues *residues = input.residues()) // as planned, whatever a residue's operation costs
        result.counts.operations = choice.cost.operations * static_cast<double>(residues->primes.size());
    return result;
}

} // namespace libperm
