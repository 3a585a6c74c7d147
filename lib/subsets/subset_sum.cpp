#include "lib/subsets/subset_sum.hpp"

#include "lib/subsets/fixed_point_double.hpp"
#include "lib/subsets/fixed_point_wide.hpp"
#include "lib/subsets/kernel_on_device.hpp"
#include "lib/subsets/residue_values.hpp"
#include "lib/subsets/tree_on_cpu.hpp"

#include <atomic>

namespace libperm {
namespace {

std::vector<GraySum> sums_of(const GrayPlan &plan, const std::vector<std::vector<double>> &matrices,
                             const GrayDevices &devices, RunControl &control, Outcome &outcome) {
    std::atomic<std::int64_t> peak_bytes = 0;
    outcome.on_gpu = devices.gpus.has_value();
    const auto open = [&] {
        WindowWorkers workers;
        if (devices.cpu) workers.push_back(tree_on_cpu(plan, control));
        if (!devices.gpus) return workers;
        const double seconds = devices.seconds / static_cast<double>(matrices.size());
        for (DeviceQueue *queue : devices.gpus->all())
            workers.push_back(kernel_on_device(*queue, plan, seconds, control, peak_bytes));
        return workers;
    };
    std::vector<GraySum> sums = sum_windows(plan, matrices, open, control);
    outcome.peak_bytes = outcome.on_gpu ? peak_bytes.load()
                                        : static_cast<std::int64_t>(window_segments(plan.kernel)) * 8 *
                                              partial_doubles(plan.kernel.arithmetic);
    return sums;
}

template <class Values, class Block, class... Way>
Outcome run(const GrayPlan &plan, const Block &block, const GrayDevices &devices, RunControl &control,
            const Way &...way) {
    Outcome outcome;
    const Values values(plan, block);
    const GraySum sum = sums_of(plan, {values.numbers()}, devices, control, outcome).front();
    values.close(sum, way..., outcome);
    outcome.operations = outcome.subsets * plan.flops_per_subset;
    return outcome;
}

} // namespace

Outcome run_gray(const GrayPlan &plan, const Block &block, const GrayDevices &devices, RunControl &control) {
    return run<GrayValues>(plan, block, devices, control, block, way_of(plan.kernel));
}

Outcome run_gray(const GrayPlan &plan, const ExactBlock &block, const GrayDevices &devices,
                 RunControl &control) {
    return run<GridValues>(plan, block, devices, control, plan.kernel);
}

std::vector<std::uint64_t> run_gray(const GrayPlan &plan, const Residues &residues,
                                    const GrayDevices &devices, RunControl &control, Outcome &outcome) {
    std::vector<std::vector<double>> matrices;
    for (std::size_t k = 0; k < residues.primes.size(); ++k)
        matrices.push_back(residue_values(plan, residues, k));
    const std::vector<GraySum> sums = sums_of(plan, matrices, devices, control, outcome);
    std::vector<std::uint64_t> permanents;
    for (std::size_t k = 0; k < sums.size(); ++k)
        permanents.push_back(residue_permanent(plan, sums[k].sum, residues.primes[k]));
    return permanents;
}

} // namespace libperm
