#include "lib/subsets/tree_plan.hpp"

#include "jit/kernel/leaf.hpp"
#include "jit/program/tree.hpp"
#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"
#include "preprocess/tree_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace libperm {
namespace {

TreePart part_of(const TreeShape &shape) {
    TreePart part;
    part.begin = shape.begin;
    part.loop = shape.loop;
    part.end = shape.end;
    for (const TreeShape &s : shape.parts) part.parts.push_back(part_of(s));
    return part;
}

// Segments: enough for a GPU's threads or a CPU's lanes, with something to loop over in each. Longer where a
// subset takes little, as each one's sum is stored and added up; up to what may be summed again.
std::int32_t segment_bits(std::int32_t n, std::int32_t unrolled, double operations_per_subset) {
    constexpr double worth_a_sum = 0x1p17; // operations
    constexpr std::int32_t enough = 24;    // of the segments' number, the logarithm
    std::int32_t bits = std::clamp(n - 23, 10, 14);
    while (bits < 16 && n - 1 - bits > enough && std::ldexp(operations_per_subset, bits) < worth_a_sum)
        ++bits;
    return std::min(n - 1, std::max(unrolled, std::min(bits, n - 6)));
}

double roundings_below(const TreePart &part, Arithmetic arithmetic) {
    const double product = product_roundings(arithmetic);
    if (part.parts.empty()) return part.leaf.outputs.empty() ? 0 : roundings_of(part.leaf, 0, arithmetic);
    double roundings = product * (static_cast<double>(part.parts.size()) - 1);
    for (const TreePart &p : part.parts) {
        roundings += roundings_below(p, arithmetic);
        if (p.loop == p.end) continue;
        roundings += product + 1; // times the product of the levels, and the sum as one number
        for (const auto &rows : p.level) roundings += product * static_cast<double>(rows.size());
    }
    return roundings;
}

// Doubles that are spilled, for an instruction of the leaf that has most.
double spilled_share(const Tree &tree, const TreePart &part) {
    double most = 0;
    if (part.parts.empty() && !part.leaf.code.empty())
        most = spilled_bytes(part.leaf, row_sums_of(tree, part.leaf)) / 8 /
               static_cast<double>(part.leaf.code.size());
    for (const TreePart &p : part.parts) most = std::max(most, spilled_share(tree, p));
    return most;
}

// What a subset takes a GPU, in instructions: those that wait for what is spilled take longer. Measured on an
// H100: 4 % longer where one instruction in 40 spills a double, 10 % with one in 28, half as long again with
// 1 in 18.
double time_of(const SubsetPlan &plan) {
    const double share = spilled_share(plan.kernel.tree, plan.kernel.tree.root) / 0.072;
    return plan.flops_per_subset * (1 + share * share * share);
}

struct TimedOrder {
    TreeOrder order;
    double time = std::numeric_limits<double>::infinity();
};

// In leaves of several sizes: longer ones share more, and spill more, which is seen in their programs.
TimedOrder quickest(const Pattern &a, const Pattern &at, const TreeLimits &limits, const TreeOrder &order) {
    TimedOrder best;
    double operations = 0;
    for (const double share : {1.0, 0.85, 0.7, 0.55}) {
        TreeLimits smaller = limits;
        smaller.values *= share;
        TreeOrder other = shaped_within(smaller, order, a, at);
        if (other.operations == operations) continue; // the same shape again
        operations = other.operations;
        SubsetPlan plan = outline_tree(a, at, other);
        write_programs(plan.kernel.tree);
        if (const double time = time_of(plan); time < best.time) best = {std::move(other), time};
    }
    return best;
}

TreeOrder quickest(const Pattern &a, const Pattern &at, const TreeLimits &limits,
                   const std::vector<TreeOrder> &orders) {
    std::vector<TimedOrder> timed(orders.size());
    parallel_for(orders.size(), [&](std::size_t k) { timed[k] = quickest(a, at, limits, orders[k]); });
    return std::ranges::min_element(timed, {}, &TimedOrder::time)->order;
}

double compensated_below(const TreePart &part, Arithmetic arithmetic) {
    double lost = 0;
    for (const TreePart &p : part.parts)
        lost += compensated_below(p, arithmetic) + sum_loss(std::exp2(p.end - p.loop), arithmetic);
    return lost;
}

} // namespace

std::string tree_why_not(std::int32_t n) {
    return n <= most_tree_columns ? std::string()
                                  : formatted("takes at most {} rows, this has {}", most_tree_columns, n);
}

double tree_roundings(const Tree &tree, Arithmetic arithmetic) {
    double products = 1 + static_cast<double>(tree.fixed_rows.size());
    for (const auto &rows : tree.root.level) products += static_cast<double>(rows.size());
    return roundings_below(tree.root, arithmetic) + product_roundings(arithmetic) * products;
}

double tree_compensated(const Tree &tree, Arithmetic arithmetic) {
    return compensated_below(tree.root, arithmetic) +
           sum_loss(std::exp2(tree.segment_bits - tree.root.loop), arithmetic);
}

double sum_loss(double additions, Arithmetic arithmetic) {
    if (is_compensated(arithmetic)) return 2 * additions * additions * 0x1p-106;
    return is_dd(arithmetic) ? 3 * additions * 0x1p-106
                             : (is_complex(arithmetic) ? 2 : 1) * additions * additions * 0x1p-106;
}

double tree_operations_per_second(std::int32_t n, double operations_per_subset) {
    constexpr double shared = 1.2e10, apart = 3.6e10;
    return shared + (apart - shared) * std::min(1.0, operations_per_subset / n);
}

SubsetPlan outline_tree(const Pattern &a, const Pattern &at, const TreeSearch &search) {
    // Of double precision for row sums and values, some of which wait elsewhere; and for values alone, when
    // the row sums are of several doubles and stand in shared memory.
    constexpr double registers = 115, for_values = 180;
    constexpr double seconds_of_an_order = 5e-3; // to see what it spills, about
    const std::int32_t n = a.rows;
    TreeOrderOptions options;
    options.seed = search.seed;
    options.limits.values =
        std::max(40.0, search.parts == 1 ? 2.05 * (registers - n) : for_values / search.parts);
    options.seconds = search.seconds / 2;
    const auto found = [&] {
        if (search.parts > 1 || search.seconds < worth_looking_up) return find_tree_order(a, at, options);
        const double most = std::clamp(search.seconds / seconds_of_an_order, 1.0, 16.0);
        return quickest(a, at, options.limits,
                        find_tree_orders(a, at, options, static_cast<std::size_t>(most)));
    };
    if (!search.kept) return outline_tree(a, at, found(), search.parts);
    TreeOrder order;
    SearchArguments arguments;
    arguments.add(a).all(options.seed, options.seconds, options.limits.unrolled, options.limits.instructions,
                         options.limits.values, options.limits.iteration);
    with_kept_order(
        *search.kept, {"columns", "tree", n, a.nnz()}, arguments,
        [&](std::string_view bytes) { order = tree_order_from(bytes, a, at); },
        [&] { return bytes_of(order = found()); });
    return outline_tree(a, at, order, search.parts);
}

SubsetPlan outline_tree(const Pattern &a, const Pattern &at, const TreeOrder &order, int parts) {
    SubsetPlan plan;
    const std::int32_t n = a.rows;
    plan.transposed = order.transposed;
    plan.subsets = std::exp2(n - 1.0);
    plan.order.rows.resize(libperm::at(n));
    std::iota(plan.order.rows.begin(), plan.order.rows.end(), 0);
    plan.order.cols = order.columns;
    const Pattern ordered = // by columns
        transpose(reorder(order.transposed ? at : a, plan.order).pattern).pattern;
    SubsetKernel &kernel = plan.kernel;
    kernel.engine = SubsetEngine::tree;
    kernel.n = n;
    kernel.column_ptr = ordered.row_ptr;
    kernel.row = ordered.col;
    kernel.unrolled = order.root.loop;
    plan.flops_per_subset = order.operations / plan.subsets;
    kernel.segment_bits = segment_bits(n, order.root.loop, parts * parts * plan.flops_per_subset);
    Tree &tree = kernel.tree;
    tree.n = n;
    tree.column_ptr = kernel.column_ptr;
    tree.row = kernel.row;
    tree.segment_bits = kernel.segment_bits;
    tree.root = part_of(order.root);
    return plan;
}

SubsetPlan plan_tree(const Pattern &a, const Pattern &at, const TreeSearch &search) {
    SubsetPlan plan = outline_tree(a, at, search);
    write_programs(plan.kernel.tree);
    return plan;
}

namespace {

struct SavedPart { // of a tree; `parts` that follow lie in it
    std::int32_t begin = 0, loop = 0, end = 0, parts = 0;
};

struct SavedOrder {
    bool transposed = false;
    std::vector<std::int32_t> columns;
    std::vector<SavedPart> parts; // the root first
    double operations = 0;
};

template <class Archive> void serialize(Archive &ar, SavedPart &part) {
    ar(part.begin, part.loop, part.end, part.parts);
}
template <class Archive> void serialize(Archive &ar, SavedOrder &order) {
    flags(ar, order.transposed);
    ar(order.columns, order.parts);
    amounts(ar, order.operations);
}

void flatten(const TreeShape &shape, std::vector<SavedPart> &parts) {
    parts.push_back({shape.begin, shape.loop, shape.end, static_cast<std::int32_t>(shape.parts.size())});
    for (const TreeShape &p : shape.parts) flatten(p, parts);
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

TreeShape checked_shape(const SavedOrder &order, const Pattern &columns) {
    const std::int32_t n = columns.rows;
    require(n <= most_tree_columns, "columns of a tree");
    require_permutation(order.columns, n, "columns of a tree");
    std::vector<LineSet> sets;
    for (const std::int32_t c : order.columns) {
        sets.push_back(0);
        for (const std::int32_t i : columns.row(c)) sets.back() |= LineSet{1} << i;
    }
    for (const SavedPart &part : order.parts)
        require(0 <= part.begin && part.end < n && part.parts >= 0, "columns of a tree");
    std::size_t next = 0;
    TreeShape root = shape_from(order.parts, next, 0);
    require(next == order.parts.size() && root.begin == 0 && root.end == n - 1, "the root of a tree");
    check_shape(root, sets);
    return root;
}

} // namespace

std::string bytes_of(const TreeOrder &order) {
    SavedOrder saved{order.transposed, order.columns, {}, order.operations};
    flatten(order.root, saved.parts);
    return written(saved);
}

TreeOrder tree_order_from(std::string_view bytes, const Pattern &a, const Pattern &at) {
    const auto saved = all_from<SavedOrder>(bytes, "a tree");
    return {saved.transposed, saved.columns, checked_shape(saved, saved.transposed ? a : at),
            saved.operations};
}

} // namespace libperm
