#include "lib/ryser/engine.hpp"

#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/run/proposals.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace libperm {
namespace {

bool some_repeat(const std::vector<std::int32_t> &lowest) {
    for (std::size_t i = 0; i < lowest.size(); ++i)
        if (at(lowest[i]) != i) return true;
    return false;
}

} // namespace

bool RyserPlan::has_weights() const {
    return std::any_of(column_kinds.begin(), column_kinds.end(),
                       [](const EqualLines &c) { return c.count > 1; });
}

void leave_out_column(RyserPlan &plan) {
    const auto left_out =
        std::min_element(plan.column_kinds.rbegin(), plan.column_kinds.rend(),
                         [](const EqualLines &x, const EqualLines &y) { return x.count < y.count; });
    plan.last_column = left_out->line;
    if (--left_out->count == 0) plan.column_kinds.erase(std::next(left_out).base());
    for (const EqualLines &c : plan.column_kinds) plan.terms *= c.count + 1.0;
}

RyserPlan plan_ryser_sum(const Pattern &a, const Pattern &at_, const LineClasses &kinds, bool transposed) {
    const Pattern &columns_of = transposed ? a : at_; // its rows are the columns of what is summed
    RyserPlan plan;
    plan.transposed = transposed;
    plan.counted = !kinds.of_row.empty() || !kinds.of_col.empty();
    plan.row_kinds = kinds_of(transposed ? kinds.of_col : kinds.of_row, a.rows);
    plan.column_kinds = kinds_of(transposed ? kinds.of_row : kinds.of_col, a.rows);
    std::vector<char> is_row(at(a.rows), 0); // or equal to a lower one
    for (const EqualLines &r : plan.row_kinds) is_row[at(r.line)] = 1;
    std::vector<std::size_t> degrees(at(a.rows), 0);
    for (std::int32_t j = 0; j < a.rows; ++j)
        for (const std::int32_t i : columns_of.row(j)) degrees[at(j)] += is_row[at(i)] ? 1 : 0;
    std::stable_sort(
        plan.column_kinds.begin(), plan.column_kinds.end(),
        [&](const EqualLines &x, const EqualLines &y) { return degrees[at(x.line)] < degrees[at(y.line)]; });
    leave_out_column(plan);
    double rest = 1; // the share of the steps that change no earlier column
    for (const EqualLines &c : plan.column_kinds) {
        const double next = rest / (c.count + 1.0);
        plan.updates_per_subset += static_cast<double>(degrees[at(c.line)]) * (rest - next);
        rest = next;
    }
    return plan;
}

RyserPlan plan_ryser(const Pattern &a, const Pattern &at_, const LineClasses &kinds) {
    RyserPlan best = plan_ryser_sum(a, at_, {}, false);
    RyserPlan other = plan_ryser_sum(a, at_, {}, true);
    if (other.updates_per_subset < best.updates_per_subset) best = std::move(other);
    if (!some_repeat(kinds.of_row) && !some_repeat(kinds.of_col)) return best;
    // Counts are summed in twice the precision. That is worth a moment.
    double seconds = ryser_cost(best).serial_seconds + 1e-3;
    for (const bool transposed : {false, true}) {
        RyserPlan plan = plan_ryser_sum(a, at_, kinds, transposed);
        const double own = ryser_cost(plan).serial_seconds;
        if (own >= seconds) continue;
        seconds = own;
        best = std::move(plan);
    }
    return best;
}

Cost ryser_cost(const RyserPlan &plan) {
    // Counts, unlike subsets, are summed in double-double numbers.
    const double term = plan.counted ? 40e-9 : 2e-9;
    const double factor = plan.counted ? 5e-9 : 0.4e-9; // of a product
    const double update = plan.counted ? 6e-9 : 4e-9;   // of a row sum
    constexpr double weight = 12e-9;                    // a step of Pascal's triangle
    double factors = 0, weights = 0, n = 0;
    for (const EqualLines &r : plan.row_kinds) {
        n += r.count;
        factors += std::bit_width(static_cast<std::uint32_t>(r.count)) + // by repeated squaring
                   std::popcount(static_cast<std::uint32_t>(r.count)) - 1;
    }
    for (const EqualLines &c : plan.column_kinds)
        if (plan.counted) weights += c.count * 1.0 * c.count;
    Cost cost;
    cost.subsets = plan.terms;
    cost.operations = cost.subsets * (factors + plan.updates_per_subset);
    cost.serial_seconds = call_seconds + weight * weights +
                          cost.subsets * (term + factor * factors + update * plan.updates_per_subset);
    cost.bytes = 4096 * 32 + 64.0 * n;
    return cost;
}

Slowdown ryser_slowdown(const Numbers &numbers, double bits) {
    return Pace{1.7, 1.5, 4.3, 1.7, 62}.slowdown(numbers, bits);
}

void propose_ryser(Proposals &task, Engine self) {
    if (!task.wants_on_cpu(self)) return;
    const auto plan = std::make_shared<const RyserPlan>(plan_ryser(task.a, task.at, task.kinds));
    Candidate c;
    c.engine = self;
    c.transposed = plan->transposed;
    c.plan = plan;
    c.cost = ryser_cost(*plan);
    if (c.cost.subsets > ryser_most_subsets) {
        c.refusal = PERM_UNSUPPORTED;
        c.why_not = formatted("would sum {}2^{:.0f} subsets, at most 2^{:.0f} can be counted",
                              std::isfinite(c.cost.subsets) ? "" : "more than ",
                              std::min(1000.0, std::log2(c.cost.subsets)), std::log2(ryser_most_subsets));
    }
    task.add(std::move(c), ryser_slowdown(task.values.numbers, task.bits));
}

std::string saved_ryser(const EnginePlan &plan, bool /*with_predictions*/) {
    const auto &ryser = dynamic_cast<const RyserPlan &>(plan);
    return {ryser.transposed ? 't' : 'n', ryser.counted ? 'c' : 's'};
}

std::shared_ptr<const EnginePlan> restored_ryser(std::string_view bytes, const PlanSource &of) {
    require(bytes == "ns" || bytes == "nc" || bytes == "ts" || bytes == "tc", "the side that ryser sums");
    require(of.a.rows > 0, "columns for engine ryser");
    return std::make_shared<const RyserPlan>(
        plan_ryser_sum(of.a, of.at, bytes[1] == 'c' ? of.kinds : LineClasses(), bytes[0] == 't'));
}

void check_ryser(const Candidate &c) {
    const auto *plan = plan_as<RyserPlan>(c);
    require(plan && !plan->row_kinds.empty() && plan->transposed == c.transposed &&
                plan->terms <= ryser_most_subsets && !c.on_gpu,
            "no columns for engine ryser");
}

} // namespace libperm
