#include "jit/kernel/frontier_dense.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

namespace libperm {

namespace {

// Of a multiprocessor: as many as leave a thread registers for its entries.
int blocks_at_once(const StateNumbers &numbers, RowShape shape) {
    const int terms = shape.low + shape.high;
    if (numbers.doubles() <= 2) return terms <= 12 ? 4 : terms <= 20 ? 3 : 2;
    const int registers = 40 + 2 * numbers.doubles() * terms;
    return registers <= 64 ? 4 : registers <= 80 ? 3 : registers <= 128 ? 2 : 1;
}

} // namespace

std::string entry_of(RowShape shape) { return formatted("perm_row_{}_{}", shape.low, shape.high); }

KernelRecipe dense_frontier_kernel(const StateNumbers &numbers, RowShape shape) {
    const std::string name = name_of(numbers);
    KernelRecipe recipe;
    recipe.key = formatted("dense frontier: {} numbers, rows of {} low and {} high entries\ngenerator {}\n",
                           name, shape.low, shape.high, generator_digest);
    recipe.source = [numbers, shape, name] {
        return formatted("// libperm: a row of the dense frontier, {} numbers, of {} low and {} high "
                         "entries at most.\n\n",
                         name, shape.low, shape.high) +
               number_cuh +
               formatted("\ntypedef {} Arithmetic;\n"
                         "constexpr bool bounds_itself = {};\n"
                         "constexpr int most_high = {};\n\n",
                         arithmetic_type(numbers.arithmetic), numbers.bounds_itself(), dense_most_high) +
               frontier_number_cuh + "\n" + frontier_dense_cuh +
               formatted("\nextern \"C\" __global__ void __launch_bounds__(most_threads, {})\n"
                         "{}(const __grid_constant__ Row row) {{\n"
                         "    fill<{}, {}>(row);\n}}\n",
                         blocks_at_once(numbers, shape), entry_of(shape), shape.low, shape.high);
    };
    recipe.flags = kernel_flags();
    recipe.entries = {entry_of(shape)};
    return recipe;
}

} // namespace libperm
