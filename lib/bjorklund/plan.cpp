#include "lib/bjorklund/plan.hpp"

#include "jit/lanes/hafnian_sum.hpp"
#include "jit/text/text.hpp"
#include "lib/base/fields.hpp"
#include "lib/run/proposals.hpp"

#include <cmath>

namespace libperm {
namespace {

bool has_loop(const Pattern &graph) {
    for (std::int32_t i = 0; i < graph.rows; ++i)
        if (!graph.row(i).empty() && graph.row(i).front() == i) return true;
    return false;
}

// As doubles of a number; with both signs of each level.
double bytes_of_walk(const BjorklundPlan &plan) {
    if (plan.by_definition()) return 0;
    const HafnianLines lines{Arithmetic::real, plan.pairs, plan.has_loops, nullptr, nullptr, 0};
    return 8 * static_cast<double>(hafnian_room(lines));
}

} // namespace

BjorklundPlan::BjorklundPlan(const Pattern &graph)
    : pairs((graph.rows + 1) / 2),
      has_loops(has_loop(graph)),
      has_matching(graph.rows % 2 == 0 || has_loops) {}

bool BjorklundPlan::by_definition() const { return !has_matching || pairs < HafnianLines::least_pairs; }

double BjorklundPlan::terms() const {
    if (!by_definition()) return std::exp2(pairs - 3);
    return has_matching ? std::exp2(2 * pairs) / (has_loops ? 1 : 2) : 1;
}

double BjorklundPlan::operations() const {
    if (by_definition()) return has_matching ? terms() * pairs : 1;
    return terms() * hafnian_operations(pairs, has_loops);
}

Cost bjorklund_cost(const BjorklundPlan &plan, int threads) {
    constexpr double one_by_one = 3e-9, by_lanes = 0.045e-9;
    Cost cost;
    cost.operations = plan.operations();
    cost.serial_seconds = call_seconds + (plan.by_definition() ? one_by_one : by_lanes) * cost.operations;
    cost.bytes = 65536 + threads * bytes_of_walk(plan);
    return cost;
}

Slowdown bjorklund_slowdown(const Numbers &numbers, double bits) {
    const double memory = numbers.precision == Precision::dd ? 2 : 1;
    Slowdown slowdown = Pace{2.6, 7, 25, 3.8, 1000, modular_bits}.slowdown(numbers, bits);
    slowdown.memory *= numbers.complex && numbers.precision != Precision::exact ? 2 * memory : memory;
    return slowdown;
}

void propose_bjorklund(Proposals &task, Engine self) {
    if (!task.wants_on_cpu(self)) return;
    const auto plan = std::make_shared<const BjorklundPlan>(task.a);
    Candidate c;
    c.engine = self;
    const bool fits = task.a.rows <= most_bjorklund_lines;
    if (fits) {
        c.plan = plan;
        c.cost = bjorklund_cost(*plan, task.options.threads);
    } else {
        c.refusal = PERM_UNSUPPORTED;
        c.why_not = formatted("takes at most {} lines, this graph has {}", most_bjorklund_lines, task.a.rows);
    }
    task.add(std::move(c), fits ? bjorklund_slowdown(task.values.numbers, task.bits) : Slowdown{});
}

std::string saved_bjorklund(const EnginePlan &, bool) { return "b"; } // it follows from the pattern

std::shared_ptr<const EnginePlan> restored_bjorklund(std::string_view bytes, const PlanSource &of) {
    require(bytes == "b" && of.a.one_sided && of.a.rows <= most_bjorklund_lines, "a graph of few lines");
    return std::make_shared<const BjorklundPlan>(of.a);
}

void check_bjorklund(const Candidate &c) {
    require(plan_as<BjorklundPlan>(c) && !c.transposed && !c.on_gpu, "a graph of few lines");
}

} // namespace libperm
