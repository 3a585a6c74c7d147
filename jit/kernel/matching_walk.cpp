#include "jit/kernel/matching_walk.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

namespace libperm {

namespace {
// On an H200: partial sums in registers; blocks that those leave room for.
constexpr unsigned kept = 16, walk_blocks = 8;
} // namespace

KernelRecipe matching_walk_kernels() {
    KernelRecipe recipe;
    recipe.key = formatted("matchings at random\ngenerator {}\n", generator_digest);
    recipe.source = [] {
        return "// libperm: matchings drawn at random.\n\n" + std::string(walk_value_cuh) +
               formatted("\nconstexpr unsigned kept = {}, together = {};\n\n", kept, entries_together) +
               matching_walk_cuh + "\n" + bet_tally_cuh +
               formatted("\nextern \"C\" __global__ void __launch_bounds__({}, {})\n"
                         "{}(const __grid_constant__ Walks all) {{\n"
                         "    extern __shared__ __align__(16) unsigned char shared_memory[];\n"
                         "    draw(all, reinterpret_cast<u32 *>(shared_memory));\n}}\n"
                         "extern \"C\" __global__ void __launch_bounds__({})\n"
                         "{}(const __grid_constant__ Tallies all) {{\n    tally(all);\n}}\n",
                         draw_threads, walk_blocks, draw_entry, tally_threads, tally_entry);
    };
    recipe.flags = kernel_flags();
    recipe.entries = {draw_entry, tally_entry};
    return recipe;
}

} // namespace libperm
