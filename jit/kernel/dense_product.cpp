#include "jit/kernel/dense_product.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

namespace libperm {

KernelRecipe dense_product_kernels() {
    KernelRecipe recipe;
    recipe.key = formatted("products of full matrices\ngenerator {}\n", generator_digest);
    recipe.source = [] {
        constexpr const char *kernel = "\nextern \"C\" __global__ void __launch_bounds__(most_threads)\n";
        return std::string("// libperm: products of full matrices.\n\n") + tensor_tile_cuh + "\n" +
               dense_product_cuh + kernel +
               formatted("{}(const __grid_constant__ DenseProduct product) {{\n    multiply(product);\n}}\n",
                         dense_product_entry) +
               kernel +
               formatted(
                   "{}(const double *x, u64 count, u64 *most) {{\n    find_largest(x, count, most);\n}}\n",
                   dense_largest_entry) +
               kernel +
               formatted("{}(double *x, u64 count, double one, double other) {{\n    scale(x, count, one, "
                         "other);\n}}\n",
                         dense_scale_entry);
    };
    recipe.flags = kernel_flags();
    recipe.entries = {dense_product_entry, dense_largest_entry, dense_scale_entry};
    return recipe;
}

} // namespace libperm
