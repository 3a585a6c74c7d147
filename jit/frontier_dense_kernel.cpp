#include "jit/frontier_dense_kernel.hpp"

#include "jit/device_code.hpp"

#include <fmt/format.h>

namespace libperm {

namespace {

// Of a multiprocessor: as many as leave a thread registers for its entries.
int blocks_at_once(RowShape shape) {
    const int terms = shape.low + shape.high;
    return terms <= 12 ? 4 : terms <= 20 ? 3 : 2;
}

} // namespace

std::string entry_of(RowShape shape) { return fmt::format("perm_row_{}_{}", shape.low, shape.high); }

KernelRecipe dense_frontier_kernels(bool nonnegative, const std::set<RowShape> &shapes) {
    std::string rows;
    for (const RowShape &s : shapes) rows += fmt::format(" {}+{}", s.low, s.high);
    const std::string numbers = nonnegative ? "nonnegative" : "signed";
    KernelRecipe recipe;
    recipe.key = fmt::format("dense frontier: {} numbers, rows of low + high entries:{}\ngenerator {}\n",
                             numbers, rows, generator_digest);
    recipe.source = [nonnegative, shapes, numbers] {
        std::string text = fmt::format("// libperm: rows of the dense frontier, {} numbers.\n\n"
                                       "constexpr bool nonnegative = {};\n"
                                       "constexpr int most_high = {};\n\n",
                                       numbers, nonnegative, dense_most_high);
        text += frontier_number_cuh;
        text += "\n";
        text += frontier_dense_cuh;
        for (const RowShape &s : shapes)
            text += fmt::format("\nextern \"C\" __global__ void __launch_bounds__(most_threads, {})\n"
                                "{}(const __grid_constant__ Row row) {{\n"
                                "    fill<{}, {}>(row);\n}}\n",
                                blocks_at_once(s), entry_of(s), s.low, s.high);
        return text;
    };
    recipe.flags = {"--std=c++17", "-fmad=false", "--ptxas-options=-v"};
    return recipe;
}

} // namespace libperm
