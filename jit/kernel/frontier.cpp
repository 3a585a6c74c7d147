#include "jit/kernel/frontier.hpp"
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

SparseTile sparse_tile(int words) {
    switch (words) {
    case 1:
    case 2:
        return {256, 7}; // odd: neighbouring threads begin in different banks
    case 4:
        return {128, 7};
    case 8:
        return {64, 7};
    case 16:
        return {64, 3};
    default:
        return {64, 1};
    }
}

KernelRecipe sparse_frontier_kernels(const SparseKernel &kernel) {
    const std::string what =
        formatted("keys of {} words, {}{}{} numbers", kernel.words, kernel.counts ? "counted, " : "",
                  kernel.entries ? "entries, " : "", name_of(kernel.numbers));
    KernelRecipe recipe;
    recipe.key = formatted("sparse frontier: {}\ngenerator {}\n", what, generator_digest);
    recipe.source = [kernel, what] {
        const SparseTile tile = sparse_tile(kernel.words);
        return formatted("// libperm: rows of the sparse frontier, {}.\n\n", what) + number_cuh +
               formatted("\ntypedef {} Arithmetic;\n"
                         "constexpr bool bounds_itself = {}, counts = {}, entries = {};\n"
                         "constexpr int words = {}, most_threads = {}, items = {};\n\n",
                         arithmetic_type(kernel.numbers.arithmetic), kernel.numbers.bounds_itself(),
                         kernel.counts, kernel.entries, kernel.words, tile.threads, tile.items) +
               frontier_number_cuh + "\n" + chained_tiles_cuh + "\n" + balanced_path_cuh + "\n" +
               frontier_sparse_cuh;
    };
    recipe.flags = kernel_flags();
    recipe.entries = {sparse_row_entry, sparse_count_entry};
    return recipe;
}

JoinTile join_tile(const StateNumbers &numbers) {
    switch (numbers.doubles()) {
    case 1:
        return {8, 4};
    case 2:
        return {4, 4};
    default:
        return {2, 2};
    }
}

KernelRecipe frontier_join_kernels(const JoinKernel &kernel) {
    const std::string what = formatted("keys of {} words, {} numbers", kernel.words, name_of(kernel.numbers));
    KernelRecipe recipe;
    recipe.key = formatted("frontier join: {}\ngenerator {}\n", what, generator_digest);
    recipe.source = [kernel, what] {
        const JoinTile tile = join_tile(kernel.numbers);
        return formatted("// libperm: joins of the frontier's branches, {}.\n\n", what) + number_cuh +
               formatted("\ntypedef {} Arithmetic;\n"
                         "constexpr bool bounds_itself = {};\n"
                         "constexpr int words = {}, most_threads = {};\n"
                         "constexpr unsigned wide_height = {}, wide_width = {};\n\n",
                         arithmetic_type(kernel.numbers.arithmetic), kernel.numbers.bounds_itself(),
                         kernel.words, join_threads, tile.height, tile.width) +
               frontier_number_cuh + "\n" + chained_tiles_cuh + "\n" + frontier_join_cuh;
    };
    recipe.flags = kernel_flags();
    recipe.entries = {join_fill_entry,  join_copy_entry,     join_mark_entry,          join_rank_entry,
                      join_sizes_entry, join_spread_entry,   join_count_entry,         join_pairs_entry,
                      join_most_entry,  join_multiply_entry, join_multiply_wide_entry, join_take_entry};
    return recipe;
}

} // namespace libperm
