#include "jit/kernel/merge_product.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

namespace libperm {
namespace {

// Of a multiprocessor, at least: what bounds the registers. Loads wait for memory most of the time, so more
// threads are worth more than registers.
constexpr int least_blocks = 6;

} // namespace

KernelRecipe merge_product_kernels() {
    KernelRecipe recipe;
    recipe.key = formatted("sparse matrix times vector by merge path\ngenerator {}\n", generator_digest);
    recipe.source = [] {
        return formatted("// libperm: a sparse matrix times a vector, balanced by merge path.\n\n"
                         "constexpr int items = {}, most_threads = {};\n\n",
                         merge_items, merge_threads) +
               merge_path_cuh + "\n" + merge_product_cuh +
               formatted("\nextern \"C\" __global__ void __launch_bounds__(most_threads)\n"
                         "{}(const __grid_constant__ Matrix a) {{\n    cut(a);\n}}\n"
                         "\nextern \"C\" __global__ void __launch_bounds__(most_threads, {})\n"
                         "{}(const __grid_constant__ Matrix a, const double *x, double *y, Part *parts) {{\n"
                         "    multiply(a, x, y, parts);\n}}\n",
                         merge_cut_entry, least_blocks, merge_product_entry);
    };
    recipe.flags = kernel_flags();
    recipe.entries = {merge_cut_entry, merge_product_entry};
    return recipe;
}

} // namespace libperm
