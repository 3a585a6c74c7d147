// The plan of a sum over subsets as it travels. Of the tree, what its search found; those of the other
// engines follow from the block.
#include "jit/kernel/subset_source.hpp"
#include "jit/program/tree_program.hpp"
#include "lib/base/fields.hpp"
#include "lib/input/options.hpp"
#include "lib/subsets/propose.hpp"
#include "lib/subsets/tree_order_bytes.hpp"
#include "lib/subsets/tree_plan.hpp"

#include <cmath>
#include <string_view>
#include <utility>

namespace libperm {
namespace {

struct SavedTree {
    std::string order;
    bool derivative = false;
    std::int32_t segment_bits = 0;
    double flops_per_subset = 0;
};

template <class Archive> void serialize(Archive &ar, SavedTree &tree) {
    ar(tree.order);
    flags(ar, tree.derivative);
    ar(tree.segment_bits);
    amounts(ar, tree.flops_per_subset);
}

TreeShape shape_of(const TreePart &part) {
    TreeShape shape{part.begin, part.loop, part.end, {}};
    for (const TreePart &p : part.parts) shape.parts.push_back(shape_of(p));
    return shape;
}

SavedTree saved_tree(const SubsetPlan &plan) {
    const SubsetKernel &kernel = plan.kernel;
    const TreeOrder order{plan.transposed, plan.order.cols, shape_of(kernel.tree.root), 0};
    return {bytes_of(order), kernel.tree.derivative, kernel.segment_bits, plan.flops_per_subset};
}

SubsetPlan restored_tree(const SavedTree &saved, const Pattern &a, const Pattern &a_t) {
    TreeOrder order = tree_order_from(saved.order, a, a_t);
    order.operations = saved.flops_per_subset * std::exp2(a.rows - 1.0);
    require(order.root.loop <= saved.segment_bits && saved.segment_bits < a.rows, "segments of a tree");
    SubsetPlan plan = outline_tree(a, a_t, order);
    plan.kernel.segment_bits = plan.kernel.tree.segment_bits = saved.segment_bits;
    plan.kernel.tree.derivative = saved.derivative;
    write_programs(plan.kernel.tree);
    return plan;
}

} // namespace

std::string saved_subsets(const EnginePlan &plan, bool /*with_predictions*/) {
    const auto &gray = dynamic_cast<const SubsetPlan &>(plan);
    return gray.kernel.engine == SubsetEngine::tree ? written(saved_tree(gray)) : "";
}

std::shared_ptr<const EnginePlan> restored_kernel(std::string_view bytes, SubsetEngine kernel,
                                                  const PlanSource &of) {
    require(bytes.empty(), "a kernel's plan");
    return std::make_shared<const SubsetPlan>(
        in_numbers(plan_subsets(kernel, of.a, of.at, of.options.equal_chunks), of.numbers, of.options));
}

std::shared_ptr<const EnginePlan> restored_tree(std::string_view bytes, const PlanSource &of) {
    const auto saved = all_from<SavedTree>(bytes, "a tree");
    auto plan =
        std::make_shared<SubsetPlan>(in_numbers(restored_tree(saved, of.a, of.at), of.numbers, of.options));
    plan->flops_per_subset = saved.flops_per_subset;
    return plan;
}

void check_subsets(const Candidate &c) {
    const auto *plan = plan_as<SubsetPlan>(c);
    require(plan && plan->kernel.n > 0 &&
                std::string_view(engine_name(c.engine)) == subset_engine_name(plan->kernel.engine) &&
                plan->transposed == c.transposed &&
                (c.on_gpu ? subsets_why_not(*plan).empty() : !needs_gpu(c.engine)),
            "no kernel for an engine");
}

KernelSource subsets_source(const Candidate &c, const Numbers &, bool) {
    const auto *plan = plan_as<SubsetPlan>(c);
    std::string why_not = plan ? subsets_why_not(*plan) : c.why_not;
    return {why_not.empty() ? source_of(plan->kernel) : "", std::move(why_not)};
}

} // namespace libperm
