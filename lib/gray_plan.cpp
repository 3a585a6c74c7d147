#include "lib/gray_plan.hpp"

#include "jit/tree_program.hpp"
#include "preprocess/partitioning.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
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

void count_work(GrayPlan &plan, const Pattern &columns) {
    const std::int32_t n = columns.rows;
    const GrayKernel &kernel = plan.kernel;
    constexpr double sums = 2.5; // a term, its absolute value, and their part of a block's sum
    double updates = 0, global_updates = 0, global_share = 0;
    for (std::int32_t j = 0; j + 1 < n; ++j) {
        const auto rows = columns.row(j);
        const auto first_global = std::lower_bound(rows.begin(), rows.end(), kernel.k);
        if (kernel.engine == GrayEngine::hybrid && first_global != rows.end()) {
            updates += share(j) * static_cast<double>(first_global - rows.begin());
            global_updates += share(j) * static_cast<double>(rows.end() - first_global);
            global_share += share(j);
        } else {
            updates += share(j) * static_cast<double>(rows.size());
        }
    }
    switch (kernel.engine) {
    case GrayEngine::dense:
        plan.flops_per_subset = 2.0 * n + sums;
        plan.bytes_per_subset = 8.0 * n / 32; // one read for all threads of a warp
        break;
    case GrayEngine::shared:
        plan.flops_per_subset = n + updates + sums;
        plan.bytes_per_subset = 8.0 * (n + 2 * updates);
        break;
    case GrayEngine::purereg:
        plan.flops_per_subset = n + updates + sums;
        break;
    case GrayEngine::hybrid:
        plan.global_per_subset = global_share * (n - kernel.k) + 2 * global_updates;
        plan.flops_per_subset = kernel.k + (kernel.k < n ? 1 : 0) + updates + global_share * (n - kernel.k) +
                                global_updates + sums;
        break;
    case GrayEngine::tree: // planned elsewhere (lib/tree_plan.cpp)
        break;
    }
}

GrayPlan plan_side(GrayEngine engine, const Pattern &a, const Pattern &at, bool transposed,
                   bool equal_chunks) {
    GrayPlan plan;
    const std::int32_t n = a.rows;
    plan.transposed = transposed;
    plan.subsets = std::exp2(n - 1.0);
    plan.order = engine == GrayEngine::hybrid ? permanent_ordering(a, at) : by_degree(at);
    const Pattern ordered = transpose(reorder(a, plan.order).pattern).pattern; // by columns
    GrayKernel &kernel = plan.kernel;
    kernel.engine = engine;
    kernel.n = n;
    kernel.equal_chunks = equal_chunks;
    kernel.segment_bits = segment_bits(n);
    kernel.threads = engine == GrayEngine::shared ? 256 : 128;
    if (engine != GrayEngine::dense) {
        kernel.column_ptr = ordered.row_ptr;
        kernel.row = ordered.col;
    }
    std::int32_t most_unrolled = equal_chunks ? 0 : kernel.segment_bits;
    if (engine == GrayEngine::hybrid) {
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

GrayPlan plan_gray(GrayEngine engine, const Pattern &a, const Pattern &at, bool equal_chunks) {
    GrayPlan best = plan_side(engine, a, at, false, equal_chunks);
    if (engine == GrayEngine::dense) return best;
    GrayPlan other = plan_side(engine, at, a, true, equal_chunks);
    const auto work = [](const GrayPlan &plan) { return plan.flops_per_subset + plan.global_per_subset; };
    return work(other) < work(best) ? other : best;
}

std::string gray_why_not(const GrayPlan &plan) {
    const GrayKernel &kernel = plan.kernel;
    constexpr std::int64_t parameter_bytes = 32764; // of a kernel, CUDA 12.1 and later
    constexpr std::int32_t most_registers = 112; // numbers that a thread's 255 registers hold, and work with
    constexpr std::int32_t most_turns = 31;
    constexpr std::int32_t most_counted = 63; // bits of a counter of subsets
    const std::int32_t in_registers = kernel.engine == GrayEngine::hybrid   ? kernel.k
                                      : kernel.engine == GrayEngine::shared ? 0
                                                                            : kernel.n;
    if (kernel.n - 1 > most_counted)
        return fmt::format("would sum 2^{} subsets, at most 2^{} can be counted", kernel.n - 1, most_counted);
    if (kernel.engine == GrayEngine::tree && longest_loop(kernel.tree) > most_turns)
        return fmt::format("would loop over 2^{} subsets, a thread at most over 2^{}",
                           longest_loop(kernel.tree), most_turns);
    if (in_registers > most_registers)
        return fmt::format("needs {} row sums in registers, at most {} fit", in_registers, most_registers);
    const auto more = static_cast<std::int64_t>(sizeof(GrayLaunch) + 16);
    if (values_by_parameter(kernel) && 8 * parameter_count(kernel) + more > parameter_bytes)
        return fmt::format("takes {} numbers, at most {} can be a kernel's parameters",
                           parameter_count(kernel), (parameter_bytes - more) / 8);
    return {};
}

} // namespace libperm
