#include "jit/kernel/frontier_sparse.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

namespace libperm {

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

} // namespace libperm
