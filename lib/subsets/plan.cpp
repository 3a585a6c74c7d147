#include "lib/subsets/plan.hpp"

#include "jit/kernel/subset_source.hpp"
#include "jit/program/tree.hpp"
#include "jit/text/text.hpp"
#include "lib/input/options.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace libperm {
namespace {

std::size_t at_index(std::int64_t i) { return static_cast<std::size_t>(i); }

// Rows as they are, columns by ascending degree: the first change most often.
Ordering by_degree(const Pattern &at) {
    Ordering order;
    order.rows.resize(at_index(at.cols));
    order.cols.resize(at_index(at.rows));
    std::iota(order.rows.begin(), order.rows.end(), 0);
    std::iota(order.cols.begin(), order.cols.end(), 0);
    std::stable_sort(order.cols.begin(), order.cols.end(),
                     [&](std::int32_t x, std::int32_t y) { return at.row(x).size() < at.row(y).size(); });
    return order;
}

// The share of the steps that change column j of n.
double share(std::int32_t j) { return std::ldexp(1.0, -(j + 1)); }

// Subsets of a block of straight-line code: as many as an instruction cache likes.
std::int32_t unrolled_bits(double flops_per_subset, std::int32_t most) {
    constexpr double instructions = 2000, nearly_dense = 70; // of those, the compiler spills registers
    if (flops_per_subset > nearly_dense) most = std::min(most, 1);
    std::int32_t bits = 0;
    while (bits < most && flops_per_subset * std::ldexp(1.0, bits + 1) <= instructions) ++bits;
    return bits;
}

// At most `most_segments` of them up to n = 37, and 1024 subsets at least, the least chunk of Algorithm 2.
std::int32_t segment_bits(std::int32_t n) { return std::min(n - 1, std::clamp(n - 23, 10, 14)); }

void count_work(SubsetPlan &plan, const Pattern &columns) {
    const std::int32_t n = columns.rows;
    const SubsetKernel &kernel = plan.kernel;
    constexpr double sums = 2.5; // a term, its absolute value, and their part of a block's sum
    double updates = 0, global_updates = 0, global_share = 0;
    for (std::int32_t j = 0; j + 1 < n; ++j) {
        const auto rows = columns.row(j);
        const auto first_global = std::lower_bound(rows.begin(), rows.end(), kernel.k);
        if (kernel.engine == SubsetEngine::hybrid && first_global != rows.end()) {
            updates += share(j) * static_cast<double>(first_global - rows.begin());
            global_updates += share(j) * static_cast<double>(rows.end() - first_global);
            global_share += share(j);
        } else {
            updates += share(j) * static_cast<double>(rows.size());
        }
    }
    switch (kernel.engine) {
    case SubsetEngine::dense:
        plan.flops_per_subset = 2.0 * n + sums;
        plan.bytes_per_subset = 8.0 * n / 32; // one read for all threads of a warp
        break;
    case SubsetEngine::shared:
        plan.flops_per_subset = n + updates + sums;
        plan.bytes_per_subset = 8.0 * (n + 2 * updates);
        break;
    case SubsetEngine::purereg:
        plan.flops_per_subset = n + updates + sums;
        break;
    case SubsetEngine::hybrid:
        plan.global_per_subset = global_share * (n - kernel.k) + 2 * global_updates;
        plan.flops_per_subset = kernel.k + (kernel.k < n ? 1 : 0) + updates + global_share * (n - kernel.k) +
                                global_updates + sums;
        break;
    case SubsetEngine::tree: // planned elsewhere (lib/subsets/tree_plan.cpp)
        break;
    }
}

SubsetPlan plan_side(SubsetEngine engine, const Pattern &a, const Pattern &at, bool transposed,
                     bool equal_chunks) {
    SubsetPlan plan;
    const std::int32_t n = a.rows;
    plan.transposed = transposed;
    plan.subsets = std::exp2(n - 1.0);
    plan.order = engine == SubsetEngine::hybrid ? permanent_ordering(a, at) : by_degree(at);
    const Pattern ordered = transpose(reorder(a, plan.order).pattern).pattern; // by columns
    SubsetKernel &kernel = plan.kernel;
    kernel.engine = engine;
    kernel.n = n;
    kernel.equal_chunks = equal_chunks;
    kernel.segment_bits = segment_bits(n);
    kernel.threads = engine == SubsetEngine::shared ? 256 : 128;
    if (engine != SubsetEngine::dense) {
        kernel.column_ptr = ordered.row_ptr;
        kernel.row = ordered.col;
    }
    std::int32_t most_unrolled = equal_chunks ? 0 : kernel.segment_bits;
    if (engine == SubsetEngine::hybrid) {
        const Partition part = partition(ordered);
        kernel.k = part.k;
        kernel.c = std::min(part.c, n - 1);
        most_unrolled = std::min(most_unrolled, kernel.c);
    }
    count_work(plan, ordered);
    kernel.unrolled = values_by_parameter(kernel) ? unrolled_bits(plan.flops_per_subset, most_unrolled)
                                                  : std::min(most_unrolled, 4);
    return plan;
}

} // namespace

SubsetPlan plan_subsets(SubsetEngine engine, const Pattern &a, const Pattern &at, bool equal_chunks) {
    SubsetPlan best = plan_side(engine, a, at, false, equal_chunks);
    if (engine == SubsetEngine::dense) return best;
    SubsetPlan other = plan_side(engine, at, a, true, equal_chunks);
    const auto work = [](const SubsetPlan &plan) { return plan.flops_per_subset + plan.global_per_subset; };
    return work(other) < work(best) ? other : best;
}

namespace {

// Every leaf's highest column is looped over instead; whether that was possible.
bool shorten_leaves(TreePart &part) {
    bool shorter = false;
    for (TreePart &p : part.parts) shorter = shorten_leaves(p) || shorter;
    if (!part.parts.empty() || part.loop <= part.begin + 1) return shorter;
    --part.loop;
    return true;
}

// The leaves as they are for `real`, unless compiling them would take long.
void fit_leaves(SubsetPlan &plan) {
    // Instructions of doubles: half a second of NVRTC and ptxas. Where a row sum is several doubles, what is
    // compiled is longer than they are, and not quicker: registers hold none of it. Nor do they hold the
    // products of a pair of doubles: shorter leaves spill less, are compiled three times as fast, and sum
    // again as quickly.
    const Arithmetic arithmetic = plan.kernel.arithmetic;
    const double most_code = arithmetic == Arithmetic::pair                   ? 1200
                             : has_two_grids(arithmetic) || is_dd(arithmetic) ? 2500
                                                                              : 9000;
    SubsetKernel &kernel = plan.kernel;
    while (static_cast<double>(leaf_code(kernel.tree)) * arithmetic_cost(kernel.arithmetic) > most_code) {
        SubsetKernel shorter = kernel;
        if (!shorten_leaves(shorter.tree.root)) return;
        write_programs(shorter.tree);
        plan.flops_per_subset *=
            2 * static_cast<double>(leaf_code(shorter.tree)) / static_cast<double>(leaf_code(kernel.tree));
        kernel = std::move(shorter);
        kernel.unrolled = kernel.tree.root.loop;
    }
}

void drop_absolute(TreePart &part) {
    for (TreePart &p : part.parts) drop_absolute(p);
    if (!part.leaf.outputs.empty()) part.leaf = with_outputs(part.leaf, 1);
}

} // namespace

double arithmetic_cost(Arithmetic arithmetic) {
    using enum Arithmetic;
    struct Cost {
        Arithmetic of;
        double instructions;
    };
    static constexpr Cost costs[] = {
        {real, 1},   {complex, 3.5}, {dd, 9},          {complex_dd, 30},       {modular, 5},
        {pair, 3.3}, {split, 5},     {two_grids, 1.5}, {complex_two_grids, 5}, {complex_split, 16}};
    return std::ranges::find(costs, arithmetic, &Cost::of)->instructions;
}

SubsetPlan without_derivative(SubsetPlan plan) {
    plan.kernel.tree.derivative = false;
    write_programs(plan.kernel.tree);
    return plan;
}

SubsetPlan with_arithmetic(SubsetPlan plan, Arithmetic arithmetic, Summation summation) {
    SubsetKernel &kernel = plan.kernel;
    kernel.arithmetic = arithmetic;
    if (arithmetic == Arithmetic::real) {
        if (kernel.engine != SubsetEngine::tree) kernel.summation = summation;
        return plan;
    }
    plan.flops_per_subset *= arithmetic_cost(arithmetic);
    plan.bytes_per_subset *= parts_of(arithmetic);
    plan.global_per_subset *= parts_of(arithmetic);
    if (kernel.engine == SubsetEngine::purereg || kernel.engine == SubsetEngine::hybrid)
        kernel.unrolled = unrolled_bits(plan.flops_per_subset, kernel.unrolled);
    if (kernel.engine != SubsetEngine::tree) return plan;
    if (kernel.tree.derivative && arithmetic != Arithmetic::pair) plan = without_derivative(std::move(plan));
    fit_leaves(plan);
    if (rows_in_shared(kernel)) kernel.threads = threads_of_rows(kernel);
    if (arithmetic == Arithmetic::modular) drop_absolute(kernel.tree.root);
    return plan;
}

std::uint64_t window_segments(const SubsetKernel &kernel) {
    // Few enough segments for a fine share of a CPU's work, enough for those that matter most to be rare
    // among them, and for a GPU's threads to find some each in the windows that it takes at once.
    const int all = kernel.n - 1 - kernel.segment_bits;
    const int fine = std::clamp(all - 6, 14, 18), least = std::max(10, 32 - kernel.segment_bits);
    return std::uint64_t{1} << std::min({all, fine, least});
}

std::uint64_t window_count(const SubsetKernel &kernel) {
    return (std::uint64_t{1} << (kernel.n - 1 - kernel.segment_bits)) / window_segments(kernel);
}

std::uint64_t piece_count(const SubsetKernel &kernel) {
    constexpr std::uint64_t most_pieces = std::uint64_t{1} << 16;
    return kernel.equal_chunks ? 1 : std::min(window_count(kernel), most_pieces);
}

std::string subsets_why_not(const SubsetPlan &plan) {
    const SubsetKernel &kernel = plan.kernel;
    const int parts = row_parts_of(kernel.arithmetic);
    // Doubles that a thread's 255 registers hold, beside what is worked with.
    const std::int32_t most_registers = parts == 1 ? 112 : parts == 2 ? 80 : 64;
    constexpr std::int32_t most_turns = 31;
    constexpr std::int32_t most_counted = 63; // bits of a counter of subsets
    const std::int32_t in_registers = kernel.engine == SubsetEngine::hybrid ? kernel.k
                                      : kernel.engine == SubsetEngine::shared || rows_in_shared(kernel)
                                          ? 0
                                          : kernel.n;
    if (kernel.n - 1 > most_counted)
        return formatted("would sum 2^{} subsets, at most 2^{} can be counted", kernel.n - 1, most_counted);
    if (kernel.engine == SubsetEngine::tree && longest_loop(kernel.tree) > most_turns)
        return formatted("would loop over 2^{} subsets, a thread at most over 2^{}",
                         longest_loop(kernel.tree), most_turns);
    if (in_registers * parts > most_registers)
        return formatted("needs {} row sums in registers, at most {} fit", in_registers,
                         most_registers / parts);
    if (values_by_parameter(kernel) && parameter_bytes(kernel) > most_parameter_bytes)
        return formatted("takes {} numbers, at most {} can be a kernel's parameters", parameter_count(kernel),
                         most_parameter_bytes / (8 * parts));
    return {};
}

SubsetPlan refined_plan(const SubsetPlan &plan) {
    SubsetPlan refined =
        with_arithmetic(plan, has_two_grids(plan.kernel.arithmetic) ? Arithmetic::split : Arithmetic::pair);
    refined.kernel.again = true;
    return refined;
}

SubsetPlan in_numbers(SubsetPlan plan, const Numbers &numbers, const Options &options) {
    plan.tolerance = options.tolerance;
    if (plan.kernel.engine == SubsetEngine::tree && options.precision != Precision::double_)
        plan.most_refined = 1;
    const Summation summation = numbers.precision == Precision::kahan ? Summation::kahan
                                : numbers.precision == Precision::dq  ? Summation::dq
                                                                      : Summation::plain;
    return with_arithmetic(std::move(plan), numbers.arithmetic(), summation);
}

} // namespace libperm
