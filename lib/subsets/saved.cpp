// The plan of a sum over subsets as it travels. Of the tree, what its search found; those of the other
// engines follow from the block.
#include "jit/kernel/subset_source.hpp"
#include "jit/program/tree_program.hpp"
#include "lib/base/fields.hpp"
#include "lib/input/options.hpp"
#include "lib/subsets/propose.hpp"
#include "lib/subsets/tree_plan.hpp"
#include "preprocess/index.hpp"
#include "preprocess/tree_shape.hpp"

#include <cmath>
#include <string_view>
#include <utility>

namespace libperm {
namespace {

struct SavedPart { // of a tree; `parts` that follow lie in it
    std::int32_t begin = 0, loop = 0, end = 0, parts = 0;
};

struct SavedTree {
    bool transposed = false, derivative = false;
    std::vector<std::int32_t> columns;
    std::vector<SavedPart> parts; // the root first
    std::int32_t segment_bits = 0;
    double flops_per_subset = 0;
};

template <class Archive> void serialize(Archive &ar, SavedPart &part) {
    ar(part.begin, part.loop, part.end, part.parts);
}
template <class Archive> void serialize(Archive &ar, SavedTree &tree) {
    flags(ar, tree.transposed, tree.derivative);
    ar(tree.columns, tree.parts, tree.segment_bits);
    amounts(ar, tree.flops_per_subset);
}

void flatten(const TreePart &part, std::vector<SavedPart> &parts) {
    parts.push_back({part.begin, part.loop, part.end, static_cast<std::int32_t>(part.parts.size())});
    for (const TreePart &p : part.parts) flatten(p, parts);
}

SavedTree saved_tree(const SubsetPlan &plan) {
    SavedTree tree{plan.transposed,          plan.kernel.tree.derivative, plan.order.cols, {},
                   plan.kernel.segment_bits, plan.flops_per_subset};
    flatten(plan.kernel.tree.root, tree.parts);
    return tree;
}

TreeShape shape_from(const std::vector<SavedPart> &parts, std::size_t &next, int depth) {
    require(next < parts.size() && depth <= most_tree_columns, "parts of a tree");
    const SavedPart &part = parts[next++];
    TreeShape shape{part.begin, part.loop, part.end, {}};
    for (std::int32_t k = 0; k < part.parts; ++k) shape.parts.push_back(shape_from(parts, next, depth + 1));
    return shape;
}

// Of columns that are in range. Returns the rows that they touch.
LineSet check_shape(const TreeShape &shape, const std::vector<LineSet> &columns) {
    constexpr std::int32_t most_in_leaf = 16;
    constexpr double most_instructions = 1 << 16;
    require(shape.begin <= shape.loop && shape.loop <= shape.end, "columns of a tree");
    LineSet rows = 0;
    std::int32_t next = shape.begin;
    for (const TreeShape &part : shape.parts) {
        require(part.begin == next && part.begin < part.end && part.end <= shape.loop, "parts of a tree");
        const LineSet own = check_shape(part, columns);
        require((rows & own) == 0, "rows in two parts of a tree");
        rows |= own;
        next = part.end;
    }
    const std::vector<LineSet> leaf(columns.begin() + next, columns.begin() + shape.loop);
    require(leaf.empty() || (shape.parts.empty() && std::ssize(leaf) <= most_in_leaf &&
                             leaf_work(leaf).operations <= most_instructions),
            "a leaf of a tree");
    for (std::int32_t c = next; c < shape.end; ++c) rows |= columns[at(c)];
    return rows;
}

TreeShape checked_shape(const SavedTree &tree, const Pattern &columns) {
    const std::int32_t n = columns.rows;
    require(n <= most_tree_columns, "columns of a tree");
    require_permutation(tree.columns, n, "columns of a tree");
    std::vector<LineSet> sets;
    for (const std::int32_t c : tree.columns) {
        sets.push_back(0);
        for (const std::int32_t i : columns.row(c)) sets.back() |= LineSet{1} << i;
    }
    for (const SavedPart &part : tree.parts)
        require(0 <= part.begin && part.end < n && part.parts >= 0, "columns of a tree");
    std::size_t next = 0;
    TreeShape root = shape_from(tree.parts, next, 0);
    require(next == tree.parts.size() && root.begin == 0 && root.end == n - 1, "the root of a tree");
    check_shape(root, sets);
    require(root.loop <= tree.segment_bits && tree.segment_bits < n, "segments of a tree");
    return root;
}

SubsetPlan restored_tree(const SavedTree &saved, const Pattern &a, const Pattern &a_t) {
    const TreeShape root = checked_shape(saved, saved.transposed ? a : a_t);
    const double subsets = std::exp2(a.rows - 1.0);
    SubsetPlan plan =
        outline_tree(a, a_t, {saved.transposed, saved.columns, root, saved.flops_per_subset * subsets});
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
