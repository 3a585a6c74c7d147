#include "jit/kernel/merge_product.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

namespace libperm {

KernelRecipe merge_product_kernels() {
    KernelRecipe recipe;
    recipe.key = formatted("sparse matrix times vector by merge path\ngenerator {}\n", generator_digest);
    recipe.source = [] {
        return formatted("// libperm: a sparse matrix times a vector, balanced by merge path.\n\n"
                         "constexpr int items = {}, most_threads = {};\n\n",
                         merge_items, merge_threads) +
               chained_tiles_cuh + "\n" + merge_product_cuh +
               formatted("\nextern \"C\" __global__ void __launch_bounds__(most_threads)\n"
                         "{}(const __grid_constant__ Matrix a) {{\n    cut(a);\n}}\n"
                         "\nextern \"C\" __global__ void __launch_bounds__(most_threads)\n"
                         "{}(const __grid_constant__ Matrix a, const double *x, double *y, Carry *carries,\n"
                         "    const __grid_constant__ Chain chain) {{\n    multiply(a, x, y, carries, "
                         "chain);\n}}\n",
                         merge_cut_entry, merge_product_entry);
    };
    recipe.flags = kernel_flags();
    recipe.entries = {merge_cut_entry, merge_product_entry};
    return recipe;
}

} // namespace libperm
