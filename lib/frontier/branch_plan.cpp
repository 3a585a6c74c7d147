#include "lib/frontier/branch_plan.hpp"

#include "jit/text/text.hpp"
#include "lib/frontier/branch_places.hpp"
#include "lib/frontier/cost.hpp"
#include "lib/frontier/frontier.hpp"
#include "lib/frontier/frontier_plan.hpp"
#include "lib/frontier/kept_orders.hpp"
#include "lib/run/kept_orders.hpp"
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
constexpr double pace_of_gpu = 30;          // to that of a thread, of large joins

// Of a short run only a tree that looks better at once: seconds of the best other way and of the first tree.
bool is_worth_a_search(double other, double outlook) {
    constexpr double short_run = 0.05;
    return other >= worth_a_search && (other >= short_run || 2 * outlook < other);
}

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
    return options.budget.of(other_seconds) < worth_looking_up ? find_branches(task.a, task.at, options)
                                                               : kept_branches(task, options);
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

std::int64_t bytes_per_state(const Proposals &task, const FrontierProgram &program) {
    return number_bytes(task.values.nonnegative) + 8 * key_words(FrontierForm::branches, program);
}

void add_on_cpu(Proposals &task, Candidate c, const FrontierProgram &program) {
    c.cost = branches_cost(program, task.values.nonnegative);
    c.cost.bytes_per_state = bytes_per_state(task, program);
    task.add(std::move(c), frontier_slowdown(false, task.values.numbers, task.bits));
    Candidate &added = task.candidates.back();
    if (added.refusal == PERM_REFUSED_MEMORY || added.refusal == PERM_REFUSED_TIME)
        added.why_not +=
            formatted("; up to {} lines wait at once in the best tree that was found", width_of(program));
}

// Where some of its joins or steps are worth a GPU.
void add_on_gpu(Proposals &task, Candidate c, const FrontierProgram &program) {
    if (!place_branches(program, branch_key_words(program), task.values.nonnegative).uses_device()) return;
    c.cost = branches_cost(program, task.values.nonnegative, task.machine.gpu());
    c.cost.bytes_per_state = bytes_per_state(task, program);
    c = task.judged(std::move(c), frontier_slowdown(true, task.values.numbers, task.bits));
    task.require_gpu(c);
    task.candidates.push_back(std::move(c));
}

void propose_found_branches(Proposals &task, Engine self, double other);

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
    const bool by_gpu = task.options.device == Device::gpu;
    double other = better(task.outlook(), task.best_so_far()).seconds;
    if (by_gpu) other *= pace_of_gpu; // trees are priced by what a CPU takes
    // A longer search may find what takes a hundredth of the first; it gives up by itself.
    if (!std::isfinite(outlook) || !is_worth_a_search(other, outlook)) return;
    propose_found_branches(task, self, other);
}

void propose_graph_branches(Proposals &task, Engine self) {
    const double other = task.best_so_far().seconds;
    if (other >= worth_a_search || task.asks_for(self)) propose_found_branches(task, self, other);
}

namespace {

void propose_found_branches(Proposals &task, Engine self, double other) {
    const bool by_gpu = task.options.device == Device::gpu;
    auto found = search(task, other, 1);
    if (!found) return;
    BranchProgram branches = build_branch_program(task.a, found->tree, task.poll());
    Candidate c;
    c.engine = self;
    c.form = number_of(FrontierForm::branches);
    c.on_gpu = by_gpu;
    if (!branches.feasible || branch_key_words(branches.program) == 0)
        return add_too_wide(task, std::move(c), *found, branches);
    const auto plan = std::make_shared<const FrontierPlan>(std::move(branches.program));
    c.plan = plan;
    for (const bool on_gpu : {false, true}) {
        if (on_gpu ? task.a.one_sided || !task.may_use_gpu() : by_gpu) continue;
        c.on_gpu = on_gpu;
        c.expected_runs = task.may_go_on() ? expected_runs(task.a.rows, task.bits, on_gpu,
                                                           task.values.numbers, task.options.tolerance)
                                           : 1;
        (on_gpu ? add_on_gpu : add_on_cpu)(task, c, plan->program);
    }
}

} // namespace

} // namespace libperm
