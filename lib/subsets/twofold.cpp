#include "lib/subsets/twofold.hpp"

#include "lib/subsets/again.hpp"
#include "lib/subsets/fixed_point_double.hpp"
#include "preprocess/permanent_bound.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

bool is_out_of_reach(const SubsetPlan &plan, const Block &block) {
    constexpr double margin = 6; // bits: a permanent may be so much larger than its estimate
    const FixedPointDouble values(plan, block);
    if (values.moved() == 0) return false;
    if (std::all_of(block.values.begin(), block.values.end(), [](const Tracked &x) { return x.value >= 0; }))
        return !values.may_reach(plan.tolerance);
    const PermanentBound most = permanent_bound(block);
    const double moved =
        std::log2(values.moved()) + std::log2(most.mantissa) + static_cast<double>(most.exp2);
    return moved > std::log2(plan.tolerance) + log2_permanent(plan.kernel, values.numbers()) +
                       static_cast<double>(values.exp2()) + margin;
}

} // namespace

std::optional<Wider> tree_in_twofold(const Candidate &c, const Block &block) {
    const auto *plan = plan_as<SubsetPlan>(c);
    const bool is_exact = std::all_of(block.values.begin(), block.values.end(),
                                      [](const Tracked &x) { return x.roundings == 0; });
    if (!plan || plan->kernel.arithmetic != Arithmetic::real || !is_exact || !is_out_of_reach(*plan, block))
        return {};
    const auto twofold = std::make_shared<const SubsetPlan>(with_arithmetic(*plan, Arithmetic::split));
    if (c.on_gpu && !subsets_why_not(*twofold).empty()) return {};
    Wider more{c, twofold->flops_per_subset / plan->flops_per_subset};
    more.candidate.plan = twofold;
    return more;
}

} // namespace libperm
