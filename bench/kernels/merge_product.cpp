#include "bench/kernels/merge_product.hpp"

#include "bench/kernels/device_code.hpp"
#include "jit/text/text.hpp"

namespace bench {
namespace {

using namespace libperm;

// Of a multiprocessor, at least: what bounds the registers. Loads wait for memory most of the time, so more
// threads are worth more than registers.
constexpr int least_blocks = 6;

} // namespace

KernelRecipe merge_product_kernels() {
    return kernels_of(
        formatted("// libperm: a sparse matrix times a vector, balanced by merge path.\n\n"
                  "constexpr int items = {}, most_threads = {};\n\n",
                  merge_items, merge_threads) +
            merge_path_cuh + "\n" + merge_product_cuh +
            formatted("\nextern \"C\" __global__ void __launch_bounds__(most_threads)\n"
                      "{}(const __grid_constant__ Matrix a) {{\n    cut(a);\n}}\n"
                      "\nextern \"C\" __global__ void __launch_bounds__(most_threads, {})\n"
                      "{}(const __grid_constant__ Matrix a, const double *x, double *y, Part *parts) {{\n"
                      "    multiply(a, x, y, parts);\n}}\n",
                      merge_cut_entry, least_blocks, merge_product_entry),
        {merge_cut_entry, merge_product_entry});
}

} // namespace bench
