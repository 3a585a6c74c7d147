#include "lib/frontier/branch_plan.hpp"

#include "lib/frontier/branch_places.hpp"
#include "lib/frontier/cost.hpp"
#include "lib/frontier/frontier.hpp"
#include "lib/frontier/frontier_plan.hpp"
#include "lib/run/proposals.hpp"

#include <cmath>

namespace libperm {
namespace {

constexpr std::int32_t fewest_rows = 24; // below, a path is as good and found at once
constexpr double worth_a_search = 5e-3;  // seconds of the best other way: less is not worth one
constexpr double first_effort = 0.1;
constexpr double pace_of_gpu = 30; // to that of a thread, of large joins

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

// Where some of its joins or steps are worth a GPU.
void add_on_gpu(Proposals &task, Candidate c, const FrontierProgram &program) {
    if (!place_branches(program, branch_key_words(program), task.values.nonnegative).uses_device()) return;
    c.cost = branches_cost(program, task.values.nonnegative, task.machine.gpu());
    c = task.judged(std::move(c), frontier_slowdown(true, task.values.numbers, task.bits));
    if (c.refusal == PERM_OK && !task.machine.has_gpu()) {
        c.refusal = PERM_UNSUPPORTED;
        c.lacks_gpu = true;
        c.why_not = "needs a GPU: " + task.machine.why_no_gpu();
    }
    task.candidates.push_back(std::move(c));
}

} // namespace

double branches_outlook(Proposals &task) {
    constexpr double none = std::numeric_limits<double>::infinity();
    if (task.a.rows < fewest_rows) return none;
    const bool by_gpu = task.options.device == Device::gpu;
    const double pace = by_gpu ? pace_of_gpu : 1;
    const auto found = search(task, pace * task.best_so_far().seconds, first_effort);
    return found ? found->seconds / pace : none;
}

void propose_branches(Proposals &task, Engine self, double outlook) {
    double other = better(task.outlook(), task.best_so_far()).seconds;
    if (task.options.device == Device::gpu) other *= pace_of_gpu; // trees are priced by what a CPU takes
    // A longer search may find what takes a hundredth of the first; it gives up by itself.
    if (!std::isfinite(outlook) || other < worth_a_search) return;
    auto found = search(task, other, 1);
    if (!found) return;
    BranchProgram branches = build_branch_program(task.a, found->tree, task.poll());
    if (!branches.feasible || branch_key_words(branches.program) == 0) return;
    const int words = branch_key_words(branches.program);
    const auto plan =
        std::make_shared<const FrontierPlan>(std::move(branches.program), std::move(found->tree));
    const auto candidate = [&](bool on_gpu) {
        Candidate c;
        c.engine = self;
        c.form = FrontierForm::branches;
        c.on_gpu = on_gpu;
        c.plan = plan;
        c.expected_runs = task.may_go_on() ? expected_runs(task.a.rows, task.bits, on_gpu,
                                                           task.values.numbers, task.options.tolerance)
                                           : 1;
        c.bytes_per_state = number_bytes(task.values.nonnegative) + 8 * words;
        return c;
    };
    if (task.options.device != Device::gpu) {
        Candidate c = candidate(false);
        c.cost = branches_cost(plan->program, task.values.nonnegative);
        task.add(std::move(c), frontier_slowdown(false, task.values.numbers, task.bits));
    }
    if (task.may_use_gpu()) add_on_gpu(task, candidate(true), plan->program);
}

} // namespace libperm
