#include "lib/subsets/subset_sum.hpp"

#include "lib/input/options.hpp"
#include "lib/subsets/fixed_point_double.hpp"
#include "lib/subsets/fixed_point_wide.hpp"
#include "lib/subsets/kernel_on_device.hpp"
#include "lib/subsets/ones.hpp"
#include "lib/subsets/residue_values.hpp"
#include "lib/subsets/tree_on_cpu.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace libperm {
namespace {

// Each matrix's sum over all subsets.
std::vector<SubsetSum> sums_of(const SubsetPlan &plan, const std::vector<SubsetMatrix> &matrices,
                               const SubsetDevices &devices, std::int64_t &bytes) {
    std::atomic<std::int64_t> peak_bytes = 0;
    // A plan's subsets are of all matrices.
    CurrentCall part(1 / static_cast<double>(matrices.size()));
    const bool refines = std::any_of(matrices.begin(), matrices.end(), [](const SubsetMatrix &m) {
        return m.refined.most < std::numeric_limits<double>::infinity();
    });
    const auto open = [&] {
        WindowWorkers workers;
        if (devices.cpu) workers.push_back(tree_on_cpu(plan));
        if (!devices.gpus) return workers;
        const double seconds = devices.seconds / static_cast<double>(matrices.size());
        for (DeviceQueue *queue : devices.gpus->all())
            workers.push_back(kernel_on_device(*queue, plan, refines, seconds, peak_bytes));
        return workers;
    };
    std::vector<SubsetSum> sums = sum_windows(plan, matrices, open);
    bytes = devices.gpus ? peak_bytes.load()
                         : static_cast<std::int64_t>(window_segments(plan.kernel)) * 8 *
                               partial_doubles(plan.kernel.arithmetic);
    return sums;
}

using SumOfNumbers = std::function<SubsetSum(const SubsetPlan &, SubsetMatrix)>;

EngineResult sum_of_block(const SubsetPlan &plan, const Block &block, const SumOfNumbers &sum) {
    const FixedPointDouble values(plan, block);
    const RefinedSegments refined =
        values.may_reach(plan.tolerance) ? choose_refined(plan, values.numbers()) : RefinedSegments();
    return values.close(sum(plan, {values.numbers(), refined}), block, way_of(plan.kernel));
}

// Whether rows may be divided: not where one subset at a time is exact and quotients are not, nor where
// entries far below their rows' sums would lose on the grid what the tolerance asks for.
bool may_divide(const DividedBlock &divided, const SubsetPlan &other, const Block &block) {
    const FixedPointDouble quotients(divided.plan, divided.block), entries(other, block);
    const bool is_exact = divided.is_exact && quotients.may_be_exact(way_of(divided.plan.kernel));
    const bool lose_much = quotients.moved() > other.tolerance / 8 && quotients.moved() > 2 * entries.moved();
    return !lose_much && (is_exact || !entries.may_be_exact(way_of(other.kernel)));
}

EngineResult sum_by_twos(const SubsetPlan &plan, const Block &block, const SumOfNumbers &sum) {
    const SubsetPlan other = without_derivative(plan);
    const std::optional<DividedBlock> divided = divided_by_ones(plan, block);
    if (!divided || !may_divide(*divided, other, block)) return sum_of_block(other, block, sum);
    EngineResult result = sum_of_block(divided->plan, divided->block, sum);
    result.value = std::get<Ball>(result.value) * ball_of(divided->factor);
    return result;
}

} // namespace

EngineResult run_subset_sum(const SubsetPlan &plan, const EngineInput &input, const SubsetDevices &devices) {
    std::int64_t bytes = 0;
    const auto sum_over_subsets = [&](const SubsetPlan &p, SubsetMatrix matrix) {
        return sums_of(p, {std::move(matrix)}, devices, bytes).front();
    };
    EngineResult result;
    if (const Residues *residues = input.residues()) {
        std::vector<SubsetMatrix> matrices;
        for (std::size_t k = 0; k < residues->primes.size(); ++k)
            matrices.push_back({residue_values(plan, *residues, k), {}});
        const std::vector<SubsetSum> sums = sums_of(plan, matrices, devices, bytes);
        ResidueVector permanents;
        for (std::size_t k = 0; k < sums.size(); ++k)
            permanents.push_back(residue_permanent(plan, sums[k].sum, residues->primes[k]));
        result.value = std::move(permanents);
        result.counts.subsets = plan.subsets;
    } else if (const Block *block = input.block()) {
        result = (plan.kernel.tree.derivative ? sum_by_twos : sum_of_block)(plan, *block, sum_over_subsets);
    } else {
        const FixedPointWide values(plan, *input.exact());
        const RefinedSegments refined = refines(plan.kernel) && values.is_nonnegative()
                                            ? choose_refined(plan, values.leading(plan.kernel))
                                            : RefinedSegments();
        result = values.close(sum_over_subsets(plan, {values.numbers(), refined}), plan.kernel);
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
    EngineResult result = run_subset_sum(*plan_as<SubsetPlan>(choice), input, devices);
    if (const Residues *residues = input.residues()) // as planned, whatever a residue's operation costs
        result.counts.operations = choice.cost.operations * static_cast<double>(residues->primes.size());
    return result;
}

} // namespace libperm
