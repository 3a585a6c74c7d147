#include "lib/planar/plan.hpp"

#include "lib/base/fields.hpp"
#include "lib/planar/kasteleyn.hpp"
#include "lib/run/proposals.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr std::int32_t least_order = 64; // along a frontier smaller ones take milliseconds at most

struct Price {
    double products, of_product; // seconds
    double matrices;             // determinants
};

Price by_residues(const Proposals &task, const PlanarPlan &plan) {
    const double matrices = task.matrices();
    return {matrices * plan.fronts.products(), 2e-9, matrices};
}

Price by_balls(const PlanarPlan &plan) { return {plan.fronts.products(), 2.5e-7, 1}; }

double seconds_of(const Price &price, const PlanarPlan &plan) {
    constexpr double of_entry = 2e-8, of_front = 3e-7; // seconds
    return price.of_product * price.products +
           price.matrices * (of_entry * static_cast<double>(plan.is_negative.size()) +
                             of_front * static_cast<double>(plan.fronts.all().size()));
}

// Sets which way is the cheaper one.
Cost planar_cost(const Proposals &task, PlanarPlan &plan) {
    constexpr double bytes_of_ball = 112;
    Price price = by_residues(task, plan);
    double bytes_of_number = 8;
    const bool may_round = task.values.numbers.are_tracked() && task.values.may_be_long;
    if (const Price balls = by_balls(plan); may_round && seconds_of(balls, plan) < seconds_of(price, plan)) {
        plan.by_residues = false;
        price = balls;
        bytes_of_number = bytes_of_ball;
    }
    Cost cost;
    cost.operations = price.products;
    cost.serial_seconds = call_seconds + seconds_of(price, plan);
    const double at_once = std::min<double>(price.matrices, task.options.threads);
    cost.bytes =
        bytes_of_number * (plan.fronts.peak() * at_once + price.matrices * static_cast<double>(task.a.nnz()));
    return cost;
}

} // namespace

void pair_lines(PlanarPlan &plan, const Pattern &a, const Matching &matching) {
    plan.is_odd = false;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        const auto row = a.row(i);
        const auto place = std::lower_bound(row.begin(), row.end(), matching.col_of_row[at(i)]);
        plan.is_odd ^= plan.is_negative[at(a.row_begin(i) + (place - row.begin()))] != 0;
    }
    plan.fronts = Fronts(a, matching);
}

std::optional<PlanarPlan> plan_planar(const Pattern &a, const Poll &poll) {
    const std::optional<Faces> faces = faces_of(a);
    if (!faces) return {};
    poll();
    const Matching matching = maximum_matching(a, poll);
    if (matching.size < a.rows) return {};
    PlanarPlan plan;
    plan.is_negative = kasteleyn_signs(a, *faces);
    poll();
    pair_lines(plan, a, matching);
    return plan;
}

void propose_planar(Proposals &task, Engine self) {
    if (!task.wants_on_cpu(self)) return;
    if (!task.asks_for(self) && task.a.rows < least_order) return;
    std::optional<PlanarPlan> plan = plan_planar(task.a, task.poll());
    Candidate c;
    c.engine = self;
    if (plan) {
        c.cost = planar_cost(task, *plan);
        c.plan = std::make_shared<const PlanarPlan>(std::move(*plan));
    } else if (task.asks_for(self)) {
        c.refusal = PERM_UNSUPPORTED;
        c.why_not = "takes graphs that can be drawn in the plane without crossings: this one cannot";
    } else {
        return;
    }
    task.add(std::move(c), {});
}

bool planar_by_residues(const Candidate &c) {
    const auto *plan = plan_as<PlanarPlan>(c);
    return plan && plan->by_residues;
}

std::string saved_planar(const EnginePlan &plan, bool) { // the rest follows from the pattern
    return dynamic_cast<const PlanarPlan &>(plan).by_residues ? "r" : "b";
}

std::shared_ptr<const EnginePlan> restored_planar(std::string_view bytes, const PlanSource &of) {
    std::optional<PlanarPlan> plan = bytes == "r" || bytes == "b" ? plan_planar(of.a) : std::nullopt;
    require(plan.has_value(), "a planar block");
    plan->by_residues = bytes == "r";
    require(plan->by_residues || of.numbers.are_tracked(), "a planar block's numbers");
    return std::make_shared<const PlanarPlan>(std::move(*plan));
}

void check_planar(const Candidate &c) { require(plan_as<PlanarPlan>(c) && !c.on_gpu, "a planar block"); }

} // namespace libperm
