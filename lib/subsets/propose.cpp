#include "lib/subsets/propose.hpp"

#include "lib/run/proposals.hpp"
#include "lib/subsets/cost.hpp"
#include "lib/subsets/tree_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace libperm {
namespace {

constexpr double worth_a_tree = 2e-3; // seconds of another engine: below, looking for an order takes longer

// Doubles' grid leaves hardly any digits of full mantissas with signs: then the tree has its row sums on two,
// and what others have done is done again.
double expected_runs(const Proposals &task, const SubsetPlan &plan) {
    constexpr double on_two_grids = 1.4, again = 30;
    const Arithmetic arithmetic = plan.kernel.arithmetic;
    if (task.options.precision != Precision::automatic || task.values.nonnegative ||
        (arithmetic != Arithmetic::real && arithmetic != Arithmetic::complex))
        return 1;
    return plan.kernel.engine == SubsetEngine::tree ? on_two_grids : again;
}

void add_on_gpu(Proposals &task, Engine self, SubsetPlan plan_of_doubles) {
    const auto plan = std::make_shared<const SubsetPlan>(
        in_numbers(std::move(plan_of_doubles), task.values.numbers, task.options));
    Candidate c;
    c.engine = self;
    c.on_gpu = true;
    c.transposed = plan->transposed;
    c.plan = plan;
    c.cost = subsets_cost(*plan, task.machine.gpu());
    c.why_not = subsets_why_not(*plan);
    if (c.why_not.empty() && !task.machine.has_gpu()) {
        c.lacks_gpu = true;
        c.why_not = "needs a GPU: " + task.machine.why_no_gpu();
    }
    if (!c.why_not.empty()) c.refusal = PERM_UNSUPPORTED;
    c.expected_runs = expected_runs(task, *plan);
    task.add(std::move(c), subsets_slowdown(true, task.values.numbers, task.bits));
}

bool wants_tree(const Proposals &task, Engine self) {
    return task.asks_for(self) || (!task.options.names_engine() && !task.options.equal_chunks);
}

TreeSearch tree_search(const Proposals &task, double seconds) {
    return {task.options.seed, task.effort * seconds, task.options.refuse_seconds, task.poll(),
            parts_of(task.values.numbers.arithmetic())};
}

bool is_worth_a_tree(const Proposals &task, Engine self) {
    constexpr double optimism = 10; // a longer search may find an order so much better
    if (task.asks_for(self)) return true;
    if (!wants_tree(task, self)) return false;
    return task.options.device == Device::gpu || task.least_seconds() > task.outlook() / optimism;
}

} // namespace

void propose_kernel(Proposals &task, Engine self, SubsetEngine kernel) {
    if (task.asks_for(self) || (!task.options.names_engine() && task.may_use_gpu()))
        add_on_gpu(task, self, plan_subsets(kernel, task.a, task.at, task.options.equal_chunks));
}

double tree_outlook(const Proposals &task, Engine self) {
    if (!wants_tree(task, self) || !tree_why_not(task.a.rows).empty() || task.least_seconds() <= worth_a_tree)
        return std::numeric_limits<double>::infinity();
    const SubsetPlan plan = outline_tree(task.a, task.at, tree_search(task, 0));
    const double seconds = tree_cost(plan).serial_seconds;
    return task.may_use_gpu() ? std::min(seconds, subsets_cost(plan, task.machine.gpu()).serial_seconds)
                              : seconds;
}

void propose_tree(Proposals &task, Engine self) {
    if (!is_worth_a_tree(task, self)) return;
    Candidate c;
    c.engine = self;
    c.why_not = tree_why_not(task.a.rows);
    if (!c.why_not.empty()) {
        c.refusal = PERM_UNSUPPORTED;
        c.cost.subsets = c.cost.operations = std::exp2(task.a.rows - 1.0);
        c.cost.serial_seconds = c.cost.operations / tree_operations_per_second;
        if (task.asks_for(self))
            task.add(std::move(c), subsets_slowdown(false, task.values.numbers, task.bits));
        return;
    }
    SubsetPlan plan = plan_tree(task.a, task.at, tree_search(task, task.least_seconds()));
    if (task.options.device != Device::gpu) {
        c.transposed = plan.transposed;
        c.cost = tree_cost(plan);
        const auto own =
            std::make_shared<const SubsetPlan>(in_numbers(plan, task.values.numbers, task.options));
        c.plan = own;
        c.expected_runs = expected_runs(task, *own);
        task.add(std::move(c), subsets_slowdown(false, task.values.numbers, task.bits));
    }
    if (task.may_use_gpu()) add_on_gpu(task, self, std::move(plan));
}

} // namespace libperm
