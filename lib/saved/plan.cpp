#include "lib/saved/plan.hpp"

#include "lib/base/fields.hpp"
#include "lib/plan/engines.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace libperm {
namespace {

SavedBlock saved_block(const BlockLines &lines, const BlockPlan &plan, bool with_predictions) {
    SavedBlock block;
    block.lines = lines;
    std::map<const EnginePlan *, std::int32_t> known;
    for (const Candidate &c : plan.candidates) {
        std::int32_t place = -1;
        if (c.plan) {
            const auto [at, is_new] =
                known.try_emplace(c.plan.get(), static_cast<std::int32_t>(block.plans.size()));
            if (is_new) {
                const EngineInfo &engine = info_of(c.engine);
                block.plans.push_back({c.engine, c.form, engine.saved(*c.plan, with_predictions)});
            }
            place = at->second;
        }
        block.plan_of.push_back(place);
        block.candidates.push_back(c);
        block.candidates.back().plan = nullptr;
    }
    const bool are_integers_used =
        std::any_of(plan.candidates.begin(), plan.candidates.end(),
                    [](const Candidate &c) { return c.plan && !c.plan->is_for(Structure()); });
    if (!are_integers_used) block.lines.structure.integers.clear();
    block.chosen = plan.chosen;
    block.why = plan.why;
    block.refusal = plan.refusal;
    block.refusal_text = plan.refusal_text;
    return block;
}

// The candidates that an execution may come to, the chosen one first.
void keep_of_use(SavedBlock &block) {
    std::vector<Candidate> of_use;
    std::vector<std::int32_t> plan_of;
    for (std::size_t k = 0; k < block.candidates.size(); ++k) {
        Candidate &c = block.candidates[k];
        const bool is_chosen = static_cast<std::int32_t>(k) == block.chosen;
        if (!is_chosen && !c.second) continue;
        c.cost = {};
        of_use.insert(is_chosen ? of_use.begin() : of_use.end(), std::move(c));
        plan_of.insert(is_chosen ? plan_of.begin() : plan_of.end(), block.plan_of[k]);
    }
    block.candidates = std::move(of_use);
    block.plan_of = std::move(plan_of);
    block.chosen = std::min(block.chosen, 0);
    block.why.clear();
    block.refusal_text.clear();
}

auto order_of(const Pattern &a) { return std::tie(a.row_ptr, a.col, a.one_sided); }
auto order_of(const SavedBlock &b) {
    const Structure &s =
        b.lines.structure; // which comes without a background where its rows are not told apart
    return std::tuple_cat(order_of(b.lines.pattern),
                          std::tie(b.lines.kinds.of_row, b.lines.kinds.of_col, s.low_rank.rows,
                                   s.low_rank.cols, s.nearly_rank_one, s.nested),
                          s.background.as_tuple(),
                          std::tie(s.separable.order.rows, s.separable.order.cols, s.separable.band.above,
                                   s.separable.band.below));
}
constexpr auto in_order = [](const auto &x, const auto &y) { return order_of(x) < order_of(y); };

BlockPlan restored_block(SavedBlock &saved, const Plan &plan) {
    check_lines(saved.lines);
    const auto &[a, kinds, structure] = saved.lines;
    const Pattern at = transpose(a).pattern;
    BlockPlan block;
    block.n = a.rows;
    block.nnz = a.nnz();
    block.nonnegative = plan.nonnegative;
    block.numbers = plan.numbers;
    std::vector<std::shared_ptr<const EnginePlan>> plans;
    for (const SavedEnginePlan &p : saved.plans)
        plans.push_back(info_of(p.engine).restored(p.bytes, p.form,
                                                   {a, at, kinds, structure, plan.numbers, plan.options}));
    block.candidates = std::move(saved.candidates);
    require(saved.plan_of.size() == block.candidates.size(), "engines without a plan");
    for (std::size_t k = 0; k < block.candidates.size(); ++k) {
        Candidate &c = block.candidates[k];
        const std::int32_t place = saved.plan_of[k];
        const bool is_refused_for_its_goal = c.refusal == PERM_UNSUPPORTED && place == -1;
        require(serves(c.engine, a) || is_refused_for_its_goal, "an engine");
        c.seconds = predicted_seconds(c, plan.options);
        if (place == -1) continue;
        require(0 <= place && place < std::ssize(plans), "an engine's plan");
        const SavedEnginePlan &own = saved.plans[static_cast<std::size_t>(place)];
        require(own.engine == c.engine && own.form == c.form, "an engine's plan");
        c.plan = plans[static_cast<std::size_t>(place)];
    }
    block.chosen = saved.chosen;
    block.why = std::move(saved.why);
    block.refusal = saved.refusal;
    block.refusal_text = std::move(saved.refusal_text);
    check_choice(block);
    return block;
}

} // namespace

SavedPlan saved(const Plan &plan, bool with_predictions) {
    SavedPlan out{plan, {}, {}, {}, {}, -1};
    Plan &rest = out.plan;
    if (rest.input.written) out.written.push_back(*rest.input.written);
    for (const auto &[lines, block] : rest.block_plans)
        out.blocks.push_back(saved_block(lines, block, with_predictions));
    for (const auto &block : rest.expanded) out.expanded.push_back(block.lines.pattern);
    std::sort(out.blocks.begin(), out.blocks.end(), in_order);
    std::sort(out.expanded.begin(), out.expanded.end(), in_order);
    if (with_predictions) {
        for (const auto &[group, count] : rest.groups) out.groups.push_back({group, count});
        if (rest.blocks > 0) {
            SavedBlock costliest;
            costliest.lines = rest.block_plans[rest.costliest].lines;
            out.costliest = std::lower_bound(out.blocks.begin(), out.blocks.end(), costliest, in_order) -
                            out.blocks.begin();
        }
    } else {
        rest.serial_seconds = rest.gpu_seconds = rest.bytes = rest.entry_bits = 0;
        rest.options.device = Device::automatic; // the candidates tell
        rest.structure.clear();
        rest.refusal_text.clear();
        for (SavedBlock &block : out.blocks) keep_of_use(block);
    }
    rest.block_plans.clear();
    rest.costliest = 0;
    return out;
}

Plan restored(SavedPlan saved, const Options &options) {
    check_plan(saved);
    Plan plan = std::move(saved.plan);
    require(plan.refusal == PERM_OK || says_something(plan.refusal_text), "why a plan is refused");
    plan.options = options;
    plan.numbers = numbers_of(options, plan.numbers.complex);
    if (!saved.written.empty())
        plan.input.written = std::make_shared<const InputPattern>(std::move(saved.written.front()));
    for (const SavedGroup &g : saved.groups) plan.groups.emplace(g.group, g.count);
    for (const Pattern &a : saved.expanded)
        if (!plan.expanded.contains(a)) plan.expanded.add({a, {}, {}}, {});
    plan.costliest = static_cast<std::size_t>(std::max<std::int64_t>(0, saved.costliest));
    for (SavedBlock &block : saved.blocks) {
        require(!plan.block_plans.find(block.lines.pattern, block.lines.kinds, block.lines.structure),
                "a block comes twice");
        BlockPlan planned = restored_block(block, plan);
        plan.block_plans.add(std::move(block.lines), std::move(planned));
    }
    plan.seconds = predicted_seconds(plan);
    return plan;
}

} // namespace libperm
