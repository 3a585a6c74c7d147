#include "lib/bjorklund/plan.hpp"

#include "jit/kernel/sign_sums.hpp"
#include "jit/lanes/hafnian_sum.hpp"
#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/input/machine.hpp"
#include "lib/run/proposals.hpp"

#include <algorithm>
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

int piece_bits_of(int pairs) {
    constexpr int sign_bits = 8, most_bits = 16;
    return std::clamp(hafnian_sign_bits(pairs) - sign_bits, 0, most_bits);
}

Cost bjorklund_cost(const BjorklundPlan &plan, int threads) {
    constexpr double one_by_one = 3e-9, by_lanes = 0.045e-9;
    Cost cost;
    cost.operations = plan.operations();
    cost.serial_seconds = call_seconds + (plan.by_definition() ? one_by_one : by_lanes) * cost.operations;
    cost.bytes = 65536 + threads * bytes_of_walk(plan);
    return cost;
}

Cost bjorklund_cost(const BjorklundPlan &plan, const GpuProperties &gpu) {
    constexpr double issued = 0.033; // of what the double-precision units can take, of real numbers
    const double rate = issued * gpu.fp64_lanes * gpu.multiprocessors * gpu.clock_hz;
    Cost cost;
    cost.operations = plan.operations();
    cost.compile_seconds = gpu_start::compile;
    cost.serial_seconds = cost.compile_seconds + cost.operations / rate;
    const HafnianPlaces places({Arithmetic::real, plan.pairs, plan.has_loops, piece_bits_of(plan.pairs)},
                               hafnian_near_bytes);
    cost.bytes = 8.0 * hafnian_blocks * gpu.multiprocessors * static_cast<double>(places.room_doubles);
    return cost;
}

Slowdown bjorklund_slowdown(bool on_gpu, const Numbers &numbers, double bits) {
    const double memory = numbers.precision == Precision::dd ? 2 : 1;
    const Pace pace = on_gpu ? Pace{2, 2.9, 9, 1.4, modular_bits} : Pace{2.6, 7, 25, 3.8, modular_bits};
    Slowdown slowdown = pace.slowdown(numbers, bits);
    slowdown.memory *= numbers.complex && numbers.precision != Precision::exact ? 2 * memory : memory;
    return slowdown;
}

namespace {

Candidate candidate_on_cpu(const Proposals &task, std::shared_ptr<const BjorklundPlan> plan) {
    Candidate c;
    c.cost = bjorklund_cost(*plan, task.options.threads);
    c.plan = std::move(plan);
    return c;
}

Candidate candidate_on_gpu(const Proposals &task, std::shared_ptr<const BjorklundPlan> plan) {
    Candidate c;
    c.on_gpu = true;
    c.cost = bjorklund_cost(*plan, task.machine.gpu());
    c.plan = std::move(plan);
    task.require_gpu(c);
    return c;
}

} // namespace

// Of few lines the definition is the processor's, whatever is named.
void propose_bjorklund(Proposals &task, Engine self) {
    if (task.options.names_engine() && !task.asks_for(self)) return;
    const auto add = [&](Candidate c) {
        c.engine = self;
        const Slowdown slowdown =
            c.plan ? bjorklund_slowdown(c.on_gpu, task.values.numbers, task.bits) : Slowdown{};
        task.add(std::move(c), slowdown);
    };
    if (task.a.rows > most_bjorklund_lines) {
        Candidate c;
        c.refusal = PERM_UNSUPPORTED;
        c.why_not = formatted("takes at most {} lines, this graph has {}", most_bjorklund_lines, task.a.rows);
        return add(std::move(c));
    }
    const auto plan = std::make_shared<const BjorklundPlan>(task.a);
    if (task.options.device != Device::gpu || plan->by_definition()) add(candidate_on_cpu(task, plan));
    if (!plan->by_definition() && task.may_use_gpu()) add(candidate_on_gpu(task, plan));
}

std::string saved_bjorklund(const EnginePlan &, bool) { return "b"; } // it follows from the pattern

std::shared_ptr<const EnginePlan> restored_bjorklund(std::string_view bytes, const PlanSource &of) {
    require(bytes == "b" && of.a.one_sided && of.a.rows <= most_bjorklund_lines, "a graph of few lines");
    return std::make_shared<const BjorklundPlan>(of.a);
}

void check_bjorklund(const Candidate &c) {
    const auto *plan = plan_as<BjorklundPlan>(c);
    require(plan && !c.transposed && !(c.on_gpu && plan->by_definition()), "a graph of few lines");
}

KernelSource bjorklund_source(const Candidate &, const Numbers &numbers, bool) {
    return {hafnian_kernel(numbers.arithmetic()).source(), {}};
}

} // namespace libperm
