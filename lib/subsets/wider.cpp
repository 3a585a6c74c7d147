#include "lib/subsets/wider.hpp"

#include "lib/subsets/fixed_point_double.hpp"
#include "lib/subsets/fixed_point_wide.hpp"
#include "lib/subsets/refined_segments.hpp"
#include "preprocess/permanent_bound.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace libperm {
namespace {

bool is_out_of_reach(const SubsetPlan &plan, const Block &block, const FixedPointDouble &values) {
    constexpr double margin = 6; // bits: a permanent may be so much larger than its estimate
    if (values.moved() == 0) return false;
    if (has_no_negative(block)) return !values.may_reach(plan.tolerance);
    const PermanentBound most = permanent_bound(block);
    const double moved =
        std::log2(values.moved()) + std::log2(most.mantissa) + static_cast<double>(most.exp2);
    return moved > std::log2(plan.tolerance) + log2_permanent(plan.kernel, values.numbers()) +
                       static_cast<double>(values.exp2()) + margin;
}

// Whether products of doubles are likely to do, where row sums lose nothing.
bool may_round(const SubsetPlan &plan, const FixedPointDouble &values) {
    constexpr double margin = 2;
    const double rounding = (way_of(plan.kernel).roundings + plan.kernel.n) * 0x1p-53;
    return margin * rounding * absolute_permanents(plan.kernel, values.numbers()) <= plan.tolerance;
}

bool is_exact(const Block &block) {
    return std::all_of(block.values.begin(), block.values.end(),
                       [](const Tracked &x) { return x.roundings == 0; });
}

} // namespace

std::vector<Wider> tree_in_wider(const Candidate &c, const EngineInput &lines) {
    std::vector<Wider> all;
    const auto *given = plan_as<SubsetPlan>(c);
    if (!given) return all;
    std::optional<SubsetPlan> one_at_a_time;
    if (given->kernel.tree.derivative) one_at_a_time = without_derivative(*given);
    const SubsetPlan *const plan = one_at_a_time ? &*one_at_a_time : given;
    const auto add = [&](Arithmetic arithmetic, bool may_meet = true) {
        const auto wider = std::make_shared<const SubsetPlan>(with_arithmetic(*plan, arithmetic));
        if (c.on_gpu && !subsets_why_not(*wider).empty()) return;
        all.push_back({c, arithmetic, arithmetic_cost(arithmetic) / arithmetic_cost(plan->kernel.arithmetic),
                       may_meet});
        all.back().candidate.plan = wider;
    };
    const Block *block = lines.block();
    if (plan->kernel.arithmetic == Arithmetic::complex && lines.exact()) {
        if (FixedPointWide(*plan, *lines.exact()).is_moved())
            for (const Arithmetic a : {Arithmetic::complex_two_grids, Arithmetic::complex_split}) add(a);
    } else if (plan->kernel.arithmetic == Arithmetic::real && block &&
               (is_exact(*block) || has_no_negative(*block))) { // whose input errors are shares of it
        const FixedPointDouble values(*plan, *block);
        if (!is_out_of_reach(*plan, *block, values)) return all;
        // Without signs few segments hold nearly all of the terms' sizes, and are summed again.
        add(Arithmetic::two_grids, has_no_negative(*block) || may_round(*plan, values));
        add(Arithmetic::split);
    }
    return all;
}

} // namespace libperm
