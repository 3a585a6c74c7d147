#include "lib/frontier/branch_plan.hpp"

#include "jit/text/text.hpp"
#include "lib/frontier/cost.hpp"
#include "lib/frontier/frontier.hpp"
#include "lib/frontier/frontier_plan.hpp"
#include "lib/run/proposals.hpp"
#include "preprocess/branch_program.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr std::int32_t fewest_rows = 24; // below, a path is as good and found at once
constexpr double worth_a_search = 5e-3;  // seconds of the best other way: less is not worth one
constexpr double first_effort = 0.1;
constexpr std::int32_t widest_branch = 128; // bits of two words

// Of a first search that knows of no other way the time does not grow with what it finds.
std::optional<FoundBranches> search(Proposals &task, double other_seconds, double effort) {
    BranchSearchOptions options;
    options.seed = task.options.seed;
    options.price = branch_price();
    options.most_states =
        task.machine.memory_limit(false) / (3.0 * static_cast<double>(16 + number_bytes(true)));
    options.other_seconds = other_seconds;
    options.budget = task.search_budget(false);
    options.budget.effort *= effort;
    if (effort < 1) options.budget.share = 0;
    options.poll = task.poll();
    options.account = &task.control.memory();
    return find_branches(task.a, task.at, options);
}

// The largest middle set.
std::int32_t width_of(const FrontierProgram &program) {
    std::int32_t width = 0;
    for (const FrontierStep &step : program.steps) width = std::max(width, step.width_after);
    for (const FrontierBranch &branch : program.branches)
        if (branch.joined[0] >= 0) width = std::max(width, branch.join.slots());
    return width;
}

void add_too_wide(Proposals &task, Candidate c, const FoundBranches &found, const BranchProgram &branches) {
    c.cost.states = c.cost.peak_states = c.cost.operations = found.peak_states;
    c.cost.bytes = found.peak_states * static_cast<double>(number_bytes(true));
    c.cost.serial_seconds = found.seconds;
    task.judge(c);
    c.refusal = PERM_UNSUPPORTED;
    c.why_not = branches.feasible ? formatted("has states of up to {} lines in the best tree that was found, "
                                              "at most {} can wait at once",
                                              branches.program.slots, widest_branch)
                                  : formatted("joins states that have more than {} lines in common, in the "
                                              "best tree that was found",
                                              widest_shared);
    task.candidates.push_back(std::move(c));
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
    BranchProgram branches = build_branch_program(task.a, found->tree, task.poll());
    Candidate c;
    c.engine = self;
    c.form = FrontierForm::branches;
    if (!branches.feasible || branch_key_words(branches.program) == 0)
        return add_too_wide(task, std::move(c), *found, branches);
    c.cost = branches_cost(branches.program, task.values.nonnegative);
    c.expected_runs = task.may_go_on() ? expected_runs(task.a.rows, task.bits, false, task.values.numbers,
                                                       task.options.tolerance)
                                       : 1;
    c.bytes_per_state = number_bytes(task.values.nonnegative) + 8 * branch_key_words(branches.program);
    const std::int32_t width = width_of(branches.program);
    c.plan = std::make_shared<const FrontierPlan>(std::move(branches.program));
    task.add(std::move(c), frontier_slowdown(false, task.values.numbers, task.bits));
    Candidate &added = task.candidates.back();
    if (added.refusal != PERM_OK)
        added.why_not += formatted("; up to {} lines wait at once in the best tree that was found", width);
}

} // namespace libperm
