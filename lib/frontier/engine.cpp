// A plan of the frontier is run, saved and shown.

#include "jit/kernel/frontier.hpp"
#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/frontier/branches_on_device.hpp"
#include "lib/frontier/dense_layout.hpp"
#include "lib/frontier/forms.hpp"
#include "lib/frontier/kept_orders.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/frontier/plan.hpp"
#include "lib/frontier/slices.hpp"
#include "lib/input/options.hpp"
#include "preprocess/branch_program.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace libperm {
namespace {

EngineResult run_on(const EngineRun &run, const FrontierInput &input) {
    const Candidate &choice = run.choice;
    const FrontierForm form = form_of(choice);
    const FrontierRun whole{input, plan_as<FrontierPlan>(choice)->program, run.memory, run.options.threads};
    const auto by_one = [&](const auto &work) {
        return SliceWorkers{one_worker,
                            [&work](std::size_t, const FrontierProgram &program) { return work(program); }};
    };
    if (!choice.on_gpu) {
        const auto work = [&](const FrontierProgram &p) { return run_frontier(form, whole.of(p)); };
        return run_in_slices(whole, slices_of(choice), by_one(work));
    }
    if (form == FrontierForm::dense)
        return run_dense_frontier_on(run.gpus.when_needed(), whole, slices_of(choice));
    const auto work = [&](const FrontierProgram &) {
        return form == FrontierForm::branches ? run_branches_on(run.gpus.first(), whole)
                                              : run_sparse_frontier_on(run.gpus.first(), whole);
    };
    return run_in_slices(whole, {}, by_one(work));
}

} // namespace

EngineResult run_frontier_engine(const EngineRun &run, const EngineInput &input) {
    if (const Residues *residues = input.residues()) return run_on(run, *residues);
    if (const Block *block = input.block()) return run_on(run, *block);
    return run_on(run, wide_entries(*input.exact(), input.arithmetic(), run.options.passes.scaling));
}

// A frontier's plan as it travels: the order of its rows, and what was predicted of it. The program is made
// again where it arrives, so that no bytes can make one that does not fit its block.

namespace {

struct SavedOrder { // of a frontier program
    bool transposed = false;
    std::vector<std::int32_t> rows;                                // none: there is no program
    std::vector<double> states_bound, expansions_bound, reachable; // as they are: libraries differ in exp2
};

template <class Archive> void serialize(Archive &ar, SavedOrder &order) {
    flags(ar, order.transposed);
    ar(order.rows, order.states_bound, order.expansions_bound, order.reachable);
}

std::shared_ptr<const EnginePlan> restored_branches(std::string_view bytes, const Pattern &a) {
    BranchProgram branches = build_branch_program(a, tree_from(bytes, a));
    require(branches.feasible && branch_key_words(branches.program) > 0, "a tree of branches");
    return std::make_shared<const FrontierPlan>(std::move(branches.program));
}

SavedOrder saved_order(const FrontierProgram &program) {
    SavedOrder order;
    order.transposed = program.transposed;
    for (const FrontierStep &step : program.steps) {
        order.rows.push_back(step.row);
        order.states_bound.push_back(step.states_bound);
        order.expansions_bound.push_back(step.expansions_bound);
        order.reachable.push_back(step.reachable);
    }
    return order;
}

void check_order(const SavedOrder &order, std::int32_t n) {
    require_permutation(order.rows, n, "an order of rows");
    for (const std::vector<double> *of_steps :
         {&order.states_bound, &order.expansions_bound, &order.reachable})
        require(std::ssize(*of_steps) == n, "an order of rows");
    for (const double share : order.reachable) require(0 <= share && share <= 1, "a share of states");
}

// Two computations of a bound that may use other functions exp2.
bool is_near(double x, double y) { return x == y || std::fabs(x - y) <= 1e-6 * y; }

} // namespace

std::string saved_frontier(const EnginePlan &plan, bool with_predictions) {
    const auto &frontier = dynamic_cast<const FrontierPlan &>(plan);
    if (!frontier.program.branches.empty()) return written_tree(frontier.program.source->tree);
    SavedOrder order = saved_order(frontier.program);
    if (!with_predictions) order.reachable.clear();
    return written(order);
}

std::shared_ptr<const EnginePlan> restored_frontier(std::string_view bytes, int form_number,
                                                    const PlanSource &of) {
    const auto form = static_cast<FrontierForm>(form_number);
    if (form == FrontierForm::branches) return restored_branches(bytes, of.a);
    const auto saved = all_from<SavedOrder>(bytes, "an order of rows");
    check_order(saved, of.a.rows);
    // The dense form has a slot for each column, repeated or not.
    const FrontierSide side = frontier_sides(
        of.a, form == FrontierForm::sparse ? of.kinds : LineClasses{})[saved.transposed ? 1 : 0];
    FrontierProgram program = build_frontier_program(side, {true, saved.transposed, saved.rows, 0});
    for (std::size_t t = 0; t < program.steps.size(); ++t) {
        FrontierStep &step = program.steps[t];
        require(is_near(saved.states_bound[t], step.states_bound) &&
                    is_near(saved.expansions_bound[t], step.expansions_bound),
                "a frontier has other states");
        step.states_bound = saved.states_bound[t];
        step.expansions_bound = saved.expansions_bound[t];
        step.reachable = saved.reachable[t];
    }
    if (form == FrontierForm::dense)
        require(program.slots <= most_dense_slots, "a table of the frontier");
    else
        require(sparse_key_words(program) > 0, "states of the frontier");
    return std::make_shared<const FrontierPlan>(std::move(program));
}

void check_frontier(const Candidate &c) {
    const auto *plan = plan_as<FrontierPlan>(c);
    require(plan && !plan->program.steps.empty() && plan->program.transposed == c.transposed,
            "no order of the frontier's rows");
    require(plan->program.branches.empty() == (form_of(c) != FrontierForm::branches), "branches");
    require(!c.cut || form_of(c) == FrontierForm::dense || !c.on_gpu, "slices of a list");
    require(!c.on_gpu || form_of(c) != FrontierForm::dense || !dense_device_why_not(plan->program),
            "a frontier that no GPU can hold");
    for (const FrontierSlice &slice : slices_of(c)) require(has_slice(plan->program, slice), "slices");
}

void save_slices(cereal::PortableBinaryOutputArchive &ar, const Candidate &c) { ar(slices_of(c)); }
void load_slices(cereal::PortableBinaryInputArchive &ar, Candidate &c) {
    std::vector<FrontierSlice> slices;
    ar(slices);
    c.cut = cut_into(std::move(slices));
}

// What is shown of a frontier's plan: the kernel that its GPU runs, and the tree that its branches follow.

namespace {

KernelRecipe kernel_of(FrontierForm form, const FrontierProgram &program, const StateNumbers &numbers) {
    if (form == FrontierForm::sparse)
        return sparse_frontier_kernels({sparse_device_words(program), numbers, program.counts});
    if (form == FrontierForm::branches)
        return frontier_join_kernels({std::max(1, branch_key_words(program)), numbers});
    const std::vector<CubeKernel> kernels = cube_kernels(program, numbers);
    std::size_t widest = 0;
    double most = 0;
    for (std::size_t t = 0; t < kernels.size(); ++t) {
        const FrontierStep &step = program.steps[t];
        const double states = dense_states(step);
        if (states > most) widest = t;
        most = std::max(most, states);
    }
    return dense_frontier_kernel(numbers, kernels[widest]);
}

// Null: the frontier follows no tree, or its tree is not there.
const FrontierPlan *branches_of(const Candidate &c) {
    return form_of(c) == FrontierForm::branches ? plan_as<FrontierPlan>(c) : nullptr;
}

BranchShape shape_of(const FrontierPlan &plan) {
    return libperm::shape_of(plan.program, plan.program.source->tree);
}

} // namespace

KernelSource frontier_source(const Candidate &c, const Numbers &numbers, bool nonnegative) {
    const FrontierProgram &program = plan_as<FrontierPlan>(c)->program;
    return {kernel_of(form_of(c), program, StateNumbers(numbers.arithmetic(), nonnegative)).source(), ""};
}

std::string tree_text(const Candidate &c) {
    const FrontierPlan *plan = branches_of(c);
    if (!plan) return "";
    const auto count = [](std::int32_t number, const char *one, const char *many) {
        return formatted("{} {}", number, number == 1 ? one : many);
    };
    const BranchShape x = shape_of(*plan);
    return formatted(
        "frontier branches: middle sets of up to {}; leaves: {}, {}, {}; {} of {:.3g} products\n",
        count(x.width, "line", "lines"), count(x.rows, "row", "rows"), count(x.columns, "column", "columns"),
        count(x.entries, "entry", "entries"), count(x.joins, "join", "joins"), x.products);
}

void put_tree(Json &json, const Candidate &c) {
    const FrontierPlan *plan = branches_of(c);
    if (!plan) return;
    const BranchShape x = shape_of(*plan);
    json["branches"] = {{"width", x.width},
                        {"leaves", {{"rows", x.rows}, {"columns", x.columns}, {"entries", x.entries}}},
                        {"joins", x.joins},
                        {"products", x.products}};
}

} // namespace libperm
