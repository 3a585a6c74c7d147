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

KernelRecipe dense_frontier_kernel(bool nonnegative, RowShape shape) {
    const std::string numbers = nonnegative ? "nonnegative" : "signed";
    KernelRecipe recipe;
    recipe.key = fmt::format("dense frontier: {} numbers, rows of {} low and {} high entries\ngenerator {}\n",
                             numbers, shape.low, shape.high, generator_digest);
    recipe.source = [nonnegative, shape, numbers] {
        return fmt::format("// libperm: a row of the dense frontier, {} numbers, of {} low and {} high "
                           "entries at most.\n\n"
                           "constexpr bool nonnegative = {};\n"
                           "constexpr int most_high = {};\n\n",
                           numbers, shape.low, shape.high, nonnegative, dense_most_high) +
               frontier_number_cuh + "\n" + frontier_dense_cuh +
               fmt::format("\nextern \"C\" __global__ void __launch_bounds__(most_threads, {})\n"
                           "{}(const __grid_constant__ Row row) {{\n"
                           "    fill<{}, {}>(row);\n}}\n",
                           blocks_at_once(shape), entry_of(shape), shape.low, shape.high);
    };
    recipe.flags = kernel_flags();
    recipe.entries = {entry_of(shape)};
    return recipe;
}

} // namespace libperm
