#include "lib/subsets/subset_sum.hpp"

#include "jit/program/tree.hpp"
#include "lib/input/options.hpp"
#include "lib/number/block_grids.hpp"
#include "lib/number/doubles.hpp"
#include "lib/subsets/kernel_on_device.hpp"
#include "lib/subsets/kernel_values.hpp"
#include "lib/subsets/segments.hpp"
#include "lib/subsets/windows.hpp"
#include "preprocess/index.hpp"
#include "preprocess/permanent_bound.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
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
    } else if (has_perfect_matching(*input.exact())) { // else it is 0
        const FixedPointWide values(plan, *input.exact());
        const RefinedSegments refined = refines(plan.kernel) && values.is_nonnegative()
                                            ? choose_refined(plan, values.leading(plan.kernel))
                                            : RefinedSegments();
        result = values.close(sum_over_subsets(plan, {values.numbers(), refined}), plan.kernel);
    } else {
        result.value = WideBall{};
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

namespace {

// The entries of a column, by row, or -1: of the columns before the last at `place` in the plan's order.
std::vector<std::int64_t> entries_of(const SubsetPlan &plan, const Block &block, std::int32_t place) {
    std::vector<std::int64_t> entries(at(block.n()), -1);
    const std::int32_t j = plan.order.cols[at(place)];
    for (std::int32_t i = 0; i < block.n(); ++i) {
        const auto row = block.pattern.row(i);
        const auto found = std::lower_bound(row.begin(), row.end(), j);
        if (found != row.end() && *found == j)
            entries[at(i)] = block.pattern.row_begin(i) + (found - row.begin());
    }
    return entries;
}

// By how many bits, over all rows, the rows' sums are apart, as multiples of these entries; infinite where
// one is 0 or far below its row's sum.
double bits_apart(const ScaledRows &rows, const std::vector<std::int64_t> &entries) {
    constexpr double most = 40;
    double largest = 0, all = 0, count = 0;
    for (const std::int64_t k : entries) {
        if (k < 0) continue;
        const double bits = -std::log2(std::fabs(rows.value[at(k)]));
        largest = std::max(largest, bits);
        all += bits, ++count;
    }
    return largest <= most ? largest * count - all : infinity;
}

// With the columns along which the tree differentiates changed for those of the same rows that leave the rows
// nearest to each other; whether that is near enough.
bool choose_columns(SubsetPlan &plan, const Block &block) {
    constexpr double most_apart = 400; // bits: doubles have 1074
    const ScaledRows rows = scaled_rows(block);
    double all = 0;
    for (const std::int32_t c : derivative_columns(plan.kernel.tree)) {
        std::int32_t best = c;
        double least = bits_apart(rows, entries_of(plan, block, c));
        for (std::int32_t other = 0; other + 1 < plan.kernel.n; ++other) {
            if (other == c || !have_same_rows(plan.kernel.tree, c, other)) continue;
            const double apart = bits_apart(rows, entries_of(plan, block, other));
            if (apart < least) least = apart, best = other;
        }
        std::swap(plan.order.cols[at(c)], plan.order.cols[at(best)]);
        all += least;
    }
    return all <= most_apart;
}

// The row of this entry.
void divide(DividedBlock &divided, const Block &block, std::int64_t one) {
    const auto &row_ptr = block.pattern.row_ptr;
    const auto end = std::upper_bound(row_ptr.begin(), row_ptr.end(), one);
    const Tracked by = block.values[at(one)];
    divided.factor = divided.factor * by;
    for (std::int64_t k = *std::prev(end); k < *end; ++k) {
        const Tracked &from = block.values[at(k)];
        if (is_zero(from)) continue;
        Tracked &x = divided.block.values[at(k)];
        x = k == one ? tracked(1) : from / by;
        divided.is_exact = divided.is_exact && x.roundings <= from.roundings;
    }
}

double double_operations(const TreePart &part) {
    double count = 0;
    for (const TreePart &p : part.parts) count += double_operations(p);
    for (const Instruction &i : part.leaf.code) count += i.op != Op::least && i.op != Op::reciprocal;
    return count;
}

} // namespace

std::optional<DividedBlock> divided_by_ones(const SubsetPlan &plan, const Block &block) {
    DividedBlock divided{plan, block, tracked(1), true};
    if (!choose_columns(divided.plan, block)) return std::nullopt;
    for (const std::int32_t c : derivative_columns(plan.kernel.tree))
        for (const std::int64_t one : entries_of(divided.plan, block, c))
            if (one >= 0) divide(divided, block, one);
    if (!divided.is_exact && !has_no_negative(block)) return std::nullopt;
    return divided;
}

SubsetPlan with_derivative(SubsetPlan plan) {
    if (plan.kernel.engine != SubsetEngine::tree) return plan;
    SubsetPlan other = plan;
    other.kernel.tree.derivative = true;
    write_programs(other.kernel.tree);
    const double before = double_operations(plan.kernel.tree.root),
                 after = double_operations(other.kernel.tree.root);
    constexpr double worth_it = 0.9; // beside more values that are alive at once
    if (derivative_columns(other.kernel.tree).empty() || after > worth_it * before) return plan;
    other.flops_per_subset *= after / before;
    return other;
}

namespace {

bool is_out_of_reach(const SubsetPlan &plan, const Block &block, const FixedPointDouble &values) {
    constexpr double margin = 6; // bits: a permanent may be so much larger than its estimate
    if (values.moved() == 0) return false;
    if (has_no_negative(block)) return !values.may_reach(plan.tolerance);
    const PermanentBound most = permanent_bound(block);
    const double moved =
        std::log2(values.moved()) + std::log2(most.mantissa) + static_cast<double>(most.exp2);
    return moved > std::log2(plan.tolerance) + log2_permanent(plan.kernel, values.numbers()) +
                       static_cast<double>(values.exp2()) + margin;
}

// Whether products of doubles are likely to do, where row sums lose nothing.
bool may_round(const SubsetPlan &plan, const FixedPointDouble &values) {
    constexpr double margin = 2;
    const double rounding = (way_of(plan.kernel).roundings + plan.kernel.n) * 0x1p-53;
    return margin * rounding * absolute_permanents(plan.kernel, values.numbers()) <= plan.tolerance;
}

bool is_exact(const Block &block) {
    return std::all_of(block.values.begin(), block.values.end(),
                       [](const Tracked &x) { return x.roundings == 0; });
}

} // namespace

std::vector<Wider> tree_in_wider(const Candidate &c, const EngineInput &lines) {
    std::vector<Wider> all;
    const auto *given = plan_as<SubsetPlan>(c);
    if (!given) return all;
    std::optional<SubsetPlan> one_at_a_time;
    if (given->kernel.tree.derivative) one_at_a_time = without_derivative(*given);
    const SubsetPlan *const plan = one_at_a_time ? &*one_at_a_time : given;
    const auto add = [&](Arithmetic arithmetic, bool may_meet = true) {
        const auto wider = std::make_shared<const SubsetPlan>(with_arithmetic(*plan, arithmetic));
        if (c.on_gpu && !subsets_why_not(*wider).empty()) return;
        all.push_back({c, arithmetic, arithmetic_cost(arithmetic) / arithmetic_cost(plan->kernel.arithmetic),
                       may_meet});
        all.back().candidate.plan = wider;
    };
    const Block *block = lines.block();
    if (plan->kernel.arithmetic == Arithmetic::complex && lines.exact()) {
        if (has_perfect_matching(*lines.exact()) && FixedPointWide(*plan, *lines.exact()).is_moved())
            for (const Arithmetic a : {Arithmetic::complex_two_grids, Arithmetic::complex_split}) add(a);
    } else if (plan->kernel.arithmetic == Arithmetic::real && block &&
               (is_exact(*block) || has_no_negative(*block))) { // whose input errors are shares of it
        const FixedPointDouble values(*plan, *block);
        if (!is_out_of_reach(*plan, *block, values)) return all;
        // Without signs few segments hold nearly all of the terms' sizes, and are summed again.
        add(Arithmetic::two_grids, has_no_negative(*block) || may_round(*plan, values));
        add(Arithmetic::split);
    }
    return all;
}

} // namespace libperm
