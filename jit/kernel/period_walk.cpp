#include "jit/kernel/period_walk.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/number/arithmetic.hpp"
#include "jit/text/text.hpp"

namespace libperm {

KernelRecipe period_walk_kernels() {
    KernelRecipe recipe;
    recipe.key = formatted("walks of a period\ngenerator {}\n", generator_digest);
    recipe.source = [] {
        constexpr const char *kernel = "\nextern \"C\" __global__ void __launch_bounds__(most_threads)\n";
        return "// libperm: walks through the levels of a period's operator.\n\n" + std::string(number_cuh) +
               formatted("\ntypedef {} Arithmetic;\n\n", arithmetic_type(Arithmetic::modular)) +
               period_walk_cuh + kernel +
               formatted("{}(const __grid_constant__ Level level) {{\n    walk<false>(level);\n}}\n",
                         walk_moves_entry) +
               kernel +
               formatted("{}(const __grid_constant__ Level level) {{\n    walk<true>(level);\n}}\n",
                         walk_ones_entry) +
               kernel +
               formatted("{}(double *to, const u32 *start, u32 states, u32 lanes) {{\n    begin(to, start, "
                         "states, lanes);\n}}\n",
                         walk_begin_entry) +
               kernel +
               formatted(
                   "{}(const double *from, const u32 *start, u32 states, u32 lanes, double *to) {{\n    "
                   "pick(from, start, states, lanes, to);\n}}\n",
                   walk_pick_entry);
    };
    recipe.flags = kernel_flags();
    recipe.entries = {walk_moves_entry, walk_ones_entry, walk_begin_entry, walk_pick_entry};
    return recipe;
}

} // namespace libperm
