#include "lib/subsets/propose.hpp"

#include "jit/driver/gpu_properties.hpp"
#include "jit/kernel/subset_source.hpp"
#include "jit/kernel/tree.hpp"
#include "jit/lanes/tree_walk.hpp"
#include "jit/program/tree.hpp"
#include "lib/base/archive.hpp"
#include "lib/input/options.hpp"
#include "lib/run/kept_orders.hpp"
#include "lib/run/proposals.hpp"
#include "lib/subsets/plan.hpp"
#include "lib/subsets/segments.hpp"
#include "lib/subsets/subset_sum.hpp"
#include "lib/subsets/tree_plan.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace libperm {
namespace {

// What sums over subsets by a kernel are expected to take.

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

// On a CPU.
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

// `bits`: of the permanent, if it is to be exact.
Slowdown subsets_slowdown(bool on_gpu, const Numbers &numbers, double bits) {
    // On a GPU the plan, made for its arithmetic, says it already.
    const Pace pace = on_gpu ? Pace{1, 1, 1, 1, modular_bits} : Pace{3.2, 3.7, 15, 3, modular_bits};
    return pace.slowdown(numbers, bits);
}

constexpr double worth_a_tree = 2e-3; // seconds of another engine: below, looking for an order takes longer

// Doubles' grid leaves hardly any digits of full mantissas with signs.
bool leaves_the_grid(const Proposals &task) { return task.may_go_on() && task.values.may_be_long; }

// Then what others than the tree have done is done again.
double expected_runs(const Proposals &task, const SubsetPlan &plan) {
    constexpr double again = 30;
    return plan.kernel.engine != SubsetEngine::tree && leaves_the_grid(task) ? again : 1;
}

// How many times the permanent the terms add up to without their signs, in bits. Of independent normal
// deviates the terms have half the variance of a row's sum each, the permanent that of all permutations'
// products: that grows with n alone. Of sparse ones the permanent is mostly well below its variance. Fits
// what matrices of order 26 to 38 have.
double cancelled_bits(const Pattern &a, bool complex) {
    const double n = a.rows, of_sparse = n * n / static_cast<double>(a.nnz());
    return (complex ? 0.545 * n - 1.2 : 0.4 * n) + of_sparse;
}

// And the tree has its row sums on two grids, or compensated products as well where rounded ones would lose
// too much; as measured.
double slowdown_of_tree(const Proposals &task, bool on_gpu) {
    if (!leaves_the_grid(task)) return 1;
    const bool complex = task.values.numbers.complex;
    const double roundings = (complex ? 4 : 2.2) * task.a.rows;
    const double bound = std::exp2(cancelled_bits(task.a, complex) - 53) * roundings;
    constexpr double unsure = 20; // times: as often as not less is lost than that
    if (bound <= task.options.tolerance) return on_gpu ? 3.5 : complex ? 2.2 : 1.3;
    if (complex) return on_gpu ? 13 : 9; // the second after the first
    if (on_gpu) return 12;
    return bound <= unsure * task.options.tolerance ? 3 : 11;
}

// Adds what is summed again.
Cost whole_cost(Cost cost, const SubsetPlan &plan, const Proposals &task, bool on_gpu) {
    const double run = cost.serial_seconds - cost.compile_seconds;
    const double more = plan.kernel.engine == SubsetEngine::tree ? slowdown_of_tree(task, on_gpu) : 1;
    cost.serial_seconds =
        cost.compile_seconds + more * run * refining_slowdown(plan, task.values.nonnegative);
    return cost;
}

// Where two subsets at once are likely to do, and shorten what takes a moment: signs and long mantissas are
// not divided by each other.
SubsetPlan by_twos(const Proposals &task, SubsetPlan plan) {
    constexpr std::int32_t fewest_rows = 30;
    const bool may = task.a.rows >= fewest_rows && task.values.numbers.arithmetic() == Arithmetic::real &&
                     (task.values.nonnegative || !task.values.may_be_long);
    return may ? with_derivative(std::move(plan)) : plan;
}

void add_on_gpu(Proposals &task, Engine self, SubsetPlan plan_of_doubles) {
    const auto plan = std::make_shared<const SubsetPlan>(
        in_numbers(std::move(plan_of_doubles), task.values.numbers, task.options));
    Candidate c;
    c.engine = self;
    c.on_gpu = true;
    c.transposed = plan->transposed;
    c.plan = plan;
    c.cost = whole_cost(subsets_cost(*plan, task.machine.gpu()), *plan, task, true);
    c.why_not = subsets_why_not(*plan);
    if (!c.why_not.empty()) c.refusal = PERM_UNSUPPORTED;
    task.require_gpu(c);
    c.expected_runs = expected_runs(task, *plan);
    task.add(std::move(c), subsets_slowdown(true, task.values.numbers, task.bits));
}

bool wants_tree(const Proposals &task, Engine self) {
    return task.asks_for(self) || (!task.options.names_engine() && !task.options.equal_chunks);
}

constexpr double least_search = 6e-4; // seconds, for a first idea

TreeSearch tree_search(const Proposals &task, double seconds) {
    TreeSearch search{task.options.seed, seconds, parts_of(task.values.numbers.arithmetic())};
    if (seconds >= worth_looking_up) search.kept.emplace(task.kept_orders());
    return search;
}

Outlook outlook_of(Proposals &task, const SubsetPlan &outline) {
    const Outlook on_cpu = task.outlook_of(whole_cost(tree_cost(outline), outline, task, false), false);
    task.expect_on_cpu(on_cpu.seconds * subsets_slowdown(false, task.values.numbers, task.bits).time);
    if (!task.may_use_gpu()) return on_cpu;
    const Outlook on_gpu =
        task.outlook_of(whole_cost(subsets_cost(outline, task.machine.gpu()), outline, task, true), true);
    return task.options.device == Device::gpu ? on_gpu : better(on_cpu, on_gpu);
}

// After a search for a first idea. By what one thread takes, of which a GPU takes a thousandth and less,
// whatever there is: an order, and so a result's bits, must not depend on that.
double search_seconds(const Proposals &task, const SubsetPlan &first) {
    constexpr double most = 2, will_not_be_run = 1e5; // seconds; times the limit
    SearchBudget budget = task.search_budget(false);
    const double own = tree_cost(first).serial_seconds;
    budget.share = 0.02 / std::sqrt(std::max(own, 1.0));
    if (own > will_not_be_run * task.options.refuse_seconds) return least_search;
    const Outlook other = task.best_so_far();
    const double worth =
        std::min({budget.of(own), other.worth_searching, budget.most(std::min(own, other.seconds))});
    return std::clamp(worth, least_search, task.effort * most);
}

bool is_worth_a_tree(const Proposals &task, Engine self) {
    if (task.asks_for(self)) return true;
    if (!wants_tree(task, self)) return false;
    return task.options.device == Device::gpu ||
           task.least_seconds() > task.outlook().seconds / SearchBudget::far;
}

} // namespace

void propose_kernel(Proposals &task, Engine self, SubsetEngine kernel) {
    if (task.asks_for(self) || (!task.options.names_engine() && task.may_use_gpu()))
        add_on_gpu(task, self, plan_subsets(kernel, task.a, task.at, task.options.equal_chunks));
}

Outlook tree_outlook(Proposals &task, Engine self) {
    if (!wants_tree(task, self) || !tree_why_not(task.a.rows).empty() || task.least_seconds() <= worth_a_tree)
        return {};
    return outlook_of(task, outline_tree(task.a, task.at, tree_search(task, least_search)));
}

void propose_tree(Proposals &task, Engine self) {
    if (!is_worth_a_tree(task, self)) return;
    Candidate c;
    c.engine = self;
    c.why_not = tree_why_not(task.a.rows);
    if (!c.why_not.empty()) {
        c.refusal = PERM_UNSUPPORTED;
        c.cost.subsets = c.cost.operations = std::exp2(task.a.rows - 1.0);
        c.cost.serial_seconds = c.cost.operations / tree_operations_per_second(task.a.rows, task.a.rows);
        if (task.asks_for(self))
            task.add(std::move(c), subsets_slowdown(false, task.values.numbers, task.bits));
        return;
    }
    const SubsetPlan first = outline_tree(task.a, task.at, tree_search(task, least_search));
    SubsetPlan plan = plan_tree(task.a, task.at, tree_search(task, search_seconds(task, first)));
    if (task.options.device != Device::gpu) {
        c.transposed = plan.transposed;
        const auto in_plan =
            std::make_shared<const SubsetPlan>(in_numbers(plan, task.values.numbers, task.options));
        c.cost = whole_cost(tree_cost(plan), *in_plan, task, false);
        c.plan = in_plan;
        c.expected_runs = expected_runs(task, *in_plan);
        task.add(std::move(c), subsets_slowdown(false, task.values.numbers, task.bits));
    }
    if (task.may_use_gpu()) add_on_gpu(task, self, by_twos(task, std::move(plan)));
}

// The plan of a sum over subsets as it travels. Of the tree, what its search found; those of the other
// engines follow from the block.

namespace {

struct SavedTree {
    std::string order;
    bool derivative = false;
    std::int32_t segment_bits = 0;
    double flops_per_subset = 0;
};

template <class Archive> void serialize(Archive &ar, SavedTree &tree) {
    ar(tree.order);
    flags(ar, tree.derivative);
    ar(tree.segment_bits);
    amounts(ar, tree.flops_per_subset);
}

TreeShape shape_of(const TreePart &part) {
    TreeShape shape{part.begin, part.loop, part.end, {}};
    for (const TreePart &p : part.parts) shape.parts.push_back(shape_of(p));
    return shape;
}

SavedTree saved_tree(const SubsetPlan &plan) {
    const SubsetKernel &kernel = plan.kernel;
    const TreeOrder order{plan.transposed, plan.order.cols, shape_of(kernel.tree.root), 0};
    return {bytes_of(order), kernel.tree.derivative, kernel.segment_bits, plan.flops_per_subset};
}

SubsetPlan restored_tree(const SavedTree &saved, const Pattern &a, const Pattern &a_t) {
    TreeOrder order = tree_order_from(saved.order, a, a_t);
    order.operations = saved.flops_per_subset * std::exp2(a.rows - 1.0);
    require(order.root.loop <= saved.segment_bits && saved.segment_bits < a.rows, "segments of a tree");
    SubsetPlan plan = outline_tree(a, a_t, order);
    plan.kernel.segment_bits = plan.kernel.tree.segment_bits = saved.segment_bits;
    plan.kernel.tree.derivative = saved.derivative;
    write_programs(plan.kernel.tree);
    return plan;
}

} // namespace

std::string saved_subsets(const EnginePlan &plan, bool /*with_predictions*/) {
    const auto &gray = dynamic_cast<const SubsetPlan &>(plan);
    return gray.kernel.engine == SubsetEngine::tree ? written(saved_tree(gray)) : "";
}

std::shared_ptr<const EnginePlan> restored_kernel(std::string_view bytes, SubsetEngine kernel,
                                                  const PlanSource &of) {
    require(bytes.empty(), "a kernel's plan");
    return std::make_shared<const SubsetPlan>(
        in_numbers(plan_subsets(kernel, of.a, of.at, of.options.equal_chunks), of.numbers, of.options));
}

std::shared_ptr<const EnginePlan> restored_tree(std::string_view bytes, const PlanSource &of) {
    const auto saved = all_from<SavedTree>(bytes, "a tree");
    auto plan =
        std::make_shared<SubsetPlan>(in_numbers(restored_tree(saved, of.a, of.at), of.numbers, of.options));
    plan->flops_per_subset = saved.flops_per_subset;
    return plan;
}

void check_subsets(const Candidate &c) {
    const auto *plan = plan_as<SubsetPlan>(c);
    require(plan && plan->kernel.n > 0 &&
                std::string_view(engine_name(c.engine)) == subset_engine_name(plan->kernel.engine) &&
                plan->transposed == c.transposed &&
                (c.on_gpu ? subsets_why_not(*plan).empty() : !needs_gpu(c.engine)),
            "no kernel for an engine");
}

KernelSource subsets_source(const Candidate &c, const Numbers &, bool) {
    const auto *plan = plan_as<SubsetPlan>(c);
    std::string why_not = plan ? subsets_why_not(*plan) : c.why_not;
    return {why_not.empty() ? source_of(plan->kernel) : "", std::move(why_not)};
}

} // namespace libperm
