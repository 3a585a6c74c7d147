#include "lib/frontier/branch_plan.hpp"

#include "lib/frontier/cost.hpp"
#include "lib/frontier/frontier.hpp"
#include "lib/frontier/frontier_plan.hpp"
#include "lib/run/proposals.hpp"
#include "preprocess/branch_program.hpp"

#include <cmath>

namespace libperm {
namespace {

constexpr std::int32_t fewest_rows = 24; // below, a path is as good and found at once
constexpr double worth_a_search = 5e-3;  // seconds of the best other way: less is not worth one
constexpr double first_effort = 0.1;

std::optional<FoundBranches> search(Proposals &task, double other_seconds, double effort) {
    BranchSearchOptions options;
    options.seed = task.options.seed;
    options.price = branch_price();
    options.most_states =
        task.machine.memory_limit(false) / (3.0 * static_cast<double>(16 + number_bytes(true)));
    options.other_seconds = other_seconds;
    options.budget = task.search_budget(false);
    options.budget.effort *= effort;
    options.poll = task.poll();
    options.account = &task.control.memory();
    return find_branches(task.a, task.at, options);
}

} // namespace

double branches_outlook(Proposals &task) {
    constexpr double none = std::numeric_limits<double>::infinity();
    if (task.a.rows < fewest_rows || task.options.device == Device::gpu) return none;
    const auto found = search(task, task.best_so_far().seconds, first_effort);
    return found ? found->seconds : none;
}

void propose_branches(Proposals &task, Engine self, double outlook) {
    const double other = better(task.outlook(), task.best_so_far()).seconds;
    // A longer search may find what takes a hundredth of the first; it gives up by itself.
    if (!std::isfinite(outlook) || other < worth_a_search) return;
    auto found = search(task, other, 1);
    if (!found) return;
    BranchProgram branches = build_branch_program(task.a, std::move(found->tree), task.poll());
    if (!branches.feasible || branch_key_words(branches.program) == 0) return;
    Candidate c;
    c.engine = self;
    c.form = FrontierForm::branches;
    c.cost = branches_cost(branches.program, task.values.nonnegative);
    c.expected_runs = task.may_go_on() ? expected_runs(task.a.rows, task.bits, false, task.values.numbers,
                                                       task.options.tolerance)
                                       : 1;
    c.bytes_per_state = number_bytes(task.values.nonnegative) + 8 * branch_key_words(branches.program);
    c.plan = std::make_shared<const FrontierPlan>(std::move(branches.program));
    task.add(std::move(c), frontier_slowdown(false, task.values.numbers, task.bits));
}

} // namespace libperm
