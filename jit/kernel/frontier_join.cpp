#include "jit/kernel/frontier_join.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

namespace libperm {

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
