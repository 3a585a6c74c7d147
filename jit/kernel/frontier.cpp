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
    const std::string rows = formatted("{} low entries, {} in cubes", kernel.low, kernel.cube);
    const auto source = [numbers, kernel, rows] {
        return formatted(
                   "// libperm: a row of the dense frontier, {} numbers, of {} and {} others at most.\n\n",
                   name_of(numbers), rows, kernel.others) +
               numbers_text(numbers) +
               formatted("constexpr int most_high = {}, most_cube = {};\n\n", dense_most_high,
                         dense_most_cube) +
               frontier_number_cuh + "\n" + frontier_dense_cuh +
               entry_text(entry_of(kernel), formatted("most_threads, {}", least_blocks(numbers, kernel)),
                          "const __grid_constant__ Row row",
                          formatted("    fill<{}, {}, {}>(row);\n", kernel.low, kernel.cube, kernel.others));
    };
    return recipe_of(
        formatted("dense frontier: {} numbers, rows of {}, {} others", name_of(numbers), rows, kernel.others),
        source, {entry_of(kernel)});
}

SparseTile sparse_tile(int words) {
    if (words <= 2) return {256, 7}; // odd: neighbouring threads begin in different banks
    if (words == 4) return {128, 7};
    return {64, words == 8 ? 7U : words == 16 ? 3U : 1U};
}

KernelRecipe sparse_frontier_kernels(const SparseKernel &kernel) {
    const std::string what =
        formatted("keys of {} words, {}{}{} numbers", kernel.words, kernel.counts ? "counted, " : "",
                  kernel.entries ? "entries, " : "", name_of(kernel.numbers));
    const auto source = [kernel, what] {
        const SparseTile tile = sparse_tile(kernel.words);
        return formatted("// libperm: rows of the sparse frontier, {}.\n\n", what) +
               numbers_text(kernel.numbers) +
               formatted("constexpr bool counts = {}, entries = {};\n"
                         "constexpr int words = {}, most_threads = {}, items = {};\n\n",
                         kernel.counts, kernel.entries, kernel.words, tile.threads, tile.items) +
               frontier_number_cuh + "\n" + chained_tiles_cuh + "\n" + balanced_path_cuh + "\n" +
               frontier_sparse_cuh;
    };
    return recipe_of("sparse frontier: " + what, source, {sparse_row_entry, sparse_count_entry});
}

JoinTile join_tile(const StateNumbers &numbers) {
    const int doubles = numbers.doubles();
    return doubles == 1 ? JoinTile{8, 4} : doubles == 2 ? JoinTile{4, 4} : JoinTile{2, 2};
}

KernelRecipe frontier_join_kernels(const JoinKernel &kernel) {
    const std::string what = formatted("keys of {} words, {} numbers", kernel.words, name_of(kernel.numbers));
    const auto source = [kernel, what] {
        const JoinTile tile = join_tile(kernel.numbers);
        return formatted("// libperm: joins of the frontier's branches, {}.\n\n", what) +
               numbers_text(kernel.numbers) +
               formatted("constexpr int words = {}, most_threads = {};\n"
                         "constexpr unsigned wide_height = {}, wide_width = {};\n\n",
                         kernel.words, join_threads, tile.height, tile.width) +
               frontier_number_cuh + "\n" + chained_tiles_cuh + "\n" + frontier_join_cuh;
    };
    return recipe_of("frontier join: " + what, source,
                     {join_fill_entry, join_copy_entry, join_mark_entry, join_rank_entry, join_sizes_entry,
                      join_spread_entry, join_count_entry, join_pairs_entry, join_most_entry,
                      join_multiply_entry, join_multiply_wide_entry, join_take_entry});
}

} // namespace libperm
