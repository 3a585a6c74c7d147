// A frontier's plan as it travels: the order of its rows, and what was predicted of it. The program is made
// again where it arrives, so that no bytes can make one that does not fit its block.
#include "lib/base/fields.hpp"
#include "lib/frontier/frontier.hpp"
#include "lib/frontier/kept_orders.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/frontier/plan.hpp"
#include "lib/frontier/slice_fields.hpp"
#include "preprocess/branch_program.hpp"

#include <cmath>

namespace libperm {
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

} // namespace libperm
