#include "jit/kernel/frontier_dense.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

#include <algorithm>

namespace libperm {

namespace {

// Of a multiprocessor, for the compiler: as many as leave a thread registers for what it reads at once, a
// cube's sets of one weight and some six numbers of other blocks.
int least_blocks(const StateNumbers &numbers, const CubeKernel &kernel) {
    constexpr int sets[] = {1, 1, 2, 3, 6}; // of a cube's entries, of one weight, at most
    const int reads = std::max(sets[kernel.cube] + 6, kernel.low + kernel.others);
    const int own = parts_of(numbers.arithmetic) > 1 ? 60 : 40; // what a product takes
    const int registers = own + 2 * numbers.doubles() * reads;
    return registers <= 80 ? 4 : registers <= 90 ? 3 : registers <= 128 ? 2 : 1;
}

} // namespace

int most_cube(const StateNumbers &numbers) {
    return numbers.doubles() == 1 ? 4 : numbers.doubles() == 2 ? 3 : 2;
}

std::string entry_of(const CubeKernel &kernel) {
    return formatted("perm_row_{}_{}_{}", kernel.low, kernel.cube, kernel.others);
}

KernelRecipe dense_frontier_kernel(const StateNumbers &numbers, const CubeKernel &kernel) {
    const std::string name = name_of(numbers);
    KernelRecipe recipe;
    recipe.key = formatted(
        "dense frontier: {} numbers, rows of {} low entries, {} in cubes, {} others\ngenerator {}\n", name,
        kernel.low, kernel.cube, kernel.others, generator_digest);
    recipe.source = [numbers, kernel, name] {
        return formatted(
                   "// libperm: a row of the dense frontier, {} numbers, of {} low entries, {} in cubes and "
                   "{} others at most.\n\n",
                   name, kernel.low, kernel.cube, kernel.others) +
               number_cuh +
               formatted("\ntypedef {} Arithmetic;\n"
                         "constexpr bool bounds_itself = {};\n"
                         "constexpr int most_high = {}, most_cube = {};\n\n",
                         arithmetic_type(numbers.arithmetic), numbers.bounds_itself(), dense_most_high,
                         dense_most_cube) +
               frontier_number_cuh + "\n" + frontier_dense_cuh +
               formatted("\nextern \"C\" __global__ void __launch_bounds__(most_threads, {})\n"
                         "{}(const __grid_constant__ Row row) {{\n"
                         "    fill<{}, {}, {}>(row);\n}}\n",
                         least_blocks(numbers, kernel), entry_of(kernel), kernel.low, kernel.cube,
                         kernel.others);
    };
    recipe.flags = kernel_flags();
    recipe.entries = {entry_of(kernel)};
    return recipe;
}

} // namespace libperm
