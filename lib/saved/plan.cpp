#include "lib/saved/plan.hpp"

#include "jit/program/tree_program.hpp"
#include "lib/base/fields.hpp"
#include "lib/subsets/tree_plan.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace libperm {
namespace {

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

void flatten(const TreePart &part, std::vector<SavedPart> &parts) {
    parts.push_back({part.begin, part.loop, part.end, static_cast<std::int32_t>(part.parts.size())});
    for (const TreePart &p : part.parts) flatten(p, parts);
}

SavedTree saved_tree(const GrayPlan &plan) {
    SavedTree tree{plan.transposed,          plan.order.cols,       {},
                   plan.kernel.segment_bits, plan.flops_per_subset, plan.rare};
    flatten(plan.kernel.tree.root, tree.parts);
    return tree;
}

SavedBlock saved_block(const BlockKey &key, const BlockPlan &plan) {
    SavedBlock block;
    block.lines = lines_of(key);
    block.has_ryser = !plan.ryser.columns.empty() || plan.ryser.counted();
    block.ryser_transposed = plan.ryser.transposed;
    block.ryser_counted = plan.ryser.counted();
    block.sparse = saved_order(plan.sparse);
    block.dense = saved_order(plan.dense);
    block.has_kernel = plan.gray.kernel.n > 0;
    block.kernel = plan.gray.kernel.engine;
    if (block.has_kernel && block.kernel == GrayEngine::tree) block.tree = saved_tree(plan.gray);
    block.candidates = plan.candidates;
    block.chosen = plan.chosen;
    block.why = plan.why;
    block.refusal = plan.refusal;
    block.refusal_text = plan.refusal_text;
    return block;
}

auto order_of(const Pattern &a) { return std::tie(a.row_ptr, a.col); }
auto order_of(const SavedBlock &b) {
    return std::tie(b.lines.pattern.row_ptr, b.lines.pattern.col, b.lines.kinds.of_row, b.lines.kinds.of_col);
}
constexpr auto in_order = [](const auto &x, const auto &y) { return order_of(x) < order_of(y); };

// Two computations of a bound that may use other functions exp2.
bool is_near(double x, double y) { return x == y || std::fabs(x - y) <= 1e-6 * y; }

FrontierProgram restored_program(const SavedOrder &saved, const BlockLines &lines) {
    if (saved.rows.empty()) return {};
    check_order(saved, lines.pattern.rows);
    const FrontierSide side = frontier_sides(lines.pattern, lines.kinds)[saved.transposed ? 1 : 0];
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
    return program;
}

GrayPlan restored_tree(const SavedTree &saved, const Pattern &a, const Pattern &at) {
    const TreeShape root = checked_shape(saved, saved.transposed ? a : at);
    const double subsets = std::exp2(a.rows - 1.0);
    GrayPlan plan =
        outline_tree(a, at, {saved.transposed, saved.columns, root, saved.flops_per_subset * subsets});
    plan.kernel.segment_bits = plan.kernel.tree.segment_bits = saved.segment_bits;
    write_programs(plan.kernel.tree);
    return plan;
}

BlockPlan restored_block(SavedBlock &saved, const Plan &plan) {
    check_lines(saved.lines);
    const auto &[a, kinds] = saved.lines;
    const Pattern at = transpose(a).pattern;
    BlockPlan block;
    block.n = a.rows;
    block.nnz = a.nnz();
    block.nonnegative = plan.nonnegative;
    block.numbers = plan.numbers;
    if (saved.has_ryser)
        block.ryser = saved.ryser_counted ? plan_ryser_by_counts(a, at, kinds, saved.ryser_transposed)
                                          : plan_ryser_by_subsets(a, at, saved.ryser_transposed);
    block.sparse = restored_program(saved.sparse, saved.lines);
    block.dense = restored_program(saved.dense, {a, {}});
    if (saved.has_kernel) {
        const bool is_tree = saved.kernel == GrayEngine::tree;
        block.gray = in_arithmetic(is_tree ? restored_tree(saved.tree, a, at)
                                           : plan_gray(saved.kernel, a, at, plan.options.equal_chunks),
                                   plan.numbers);
        if (is_tree) {
            block.gray.flops_per_subset = saved.tree.flops_per_subset;
            block.gray.rare = saved.tree.rare;
        }
    }
    block.candidates = std::move(saved.candidates);
    for (Candidate &c : block.candidates) c.seconds = predicted_seconds(c, plan.options);
    block.chosen = saved.chosen;
    block.why = std::move(saved.why);
    block.refusal = saved.refusal;
    block.refusal_text = std::move(saved.refusal_text);
    check_choice(block);
    return block;
}

} // namespace

SavedPlan saved(const Plan &plan) {
    SavedPlan out{plan, {}, {}, {}, {}, -1};
    Plan &rest = out.plan;
    if (rest.input.written) out.written.push_back(*rest.input.written);
    for (const auto &[group, count] : rest.groups) out.groups.push_back({group, count});
    for (const auto &[key, block] : rest.block_plans) out.blocks.push_back(saved_block(key, block));
    for (const BlockKey &key : rest.expanded) out.expanded.push_back(lines_of(key).pattern);
    std::sort(out.blocks.begin(), out.blocks.end(), in_order);
    std::sort(out.expanded.begin(), out.expanded.end(), in_order);
    if (rest.blocks > 0) {
        const SavedBlock costliest = saved_block(rest.costliest, *rest.main_block());
        out.costliest =
            std::lower_bound(out.blocks.begin(), out.blocks.end(), costliest, in_order) - out.blocks.begin();
    }
    rest.block_plans.clear();
    return out;
}

SavedPlan without_predictions(SavedPlan saved) {
    saved.groups.clear();
    saved.costliest = -1;
    Plan &plan = saved.plan;
    plan.serial_seconds = plan.gpu_seconds = plan.bytes = plan.entry_bits = 0;
    plan.structure.clear();
    plan.refusal_text.clear();
    for (SavedBlock &block : saved.blocks) {
        for (SavedOrder *order : {&block.sparse, &block.dense}) order->reachable.clear();
        block.why.clear();
        block.refusal_text.clear();
        std::vector<Candidate> of_use;
        for (std::size_t k = 0; k < block.candidates.size(); ++k) {
            Candidate &c = block.candidates[k];
            const bool is_chosen = static_cast<std::int32_t>(k) == block.chosen;
            if (!is_chosen && !c.second) continue;
            c.cost = {};
            c.bytes_per_state = 0;
            of_use.insert(is_chosen ? of_use.begin() : of_use.end(), std::move(c));
        }
        block.candidates = std::move(of_use);
        block.chosen = std::min(block.chosen, 0);
    }
    return saved;
}

Plan restored(SavedPlan saved, const Options &options) {
    check_plan(saved);
    Plan plan = std::move(saved.plan);
    plan.options = options;
    plan.numbers = numbers_of(options, plan.numbers.complex);
    if (!saved.written.empty())
        plan.input.written = std::make_shared<const InputPattern>(std::move(saved.written.front()));
    for (const SavedGroup &g : saved.groups) plan.groups.emplace(g.group, g.count);
    for (const Pattern &a : saved.expanded) plan.expanded.insert(key_of(a, {}));
    for (std::size_t k = 0; k < saved.blocks.size(); ++k) {
        BlockKey key = key_of(saved.blocks[k].lines.pattern, saved.blocks[k].lines.kinds);
        if (static_cast<std::int64_t>(k) == saved.costliest) plan.costliest = key;
        const bool is_new =
            plan.block_plans.emplace(std::move(key), restored_block(saved.blocks[k], plan)).second;
        require(is_new, "a block comes twice");
    }
    plan.seconds = predicted_seconds(plan);
    return plan;
}

} // namespace libperm
