#include "bench/kernels/merge_sum.hpp"

#include "bench/kernels/device_code.hpp"
#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

namespace bench {

using namespace libperm;

KernelRecipe merge_sum_kernels() {
    return kernels_of(
        formatted("// libperm: the sum of two sparse matrices, along a balanced path.\n\n"
                  "constexpr int items = {}, most_threads = {}, words = 1;\n\n",
                  sum_items, sum_threads) +
            merge_path_cuh + "\n" + chained_tiles_cuh + "\n" + balanced_path_cuh + "\n" + merge_sum_cuh +
            formatted("\nextern \"C\" __global__ void __launch_bounds__(most_threads)\n"
                      "{}(const __grid_constant__ Rows a, u64 *key) {{\n    write_pairs(a, key);\n}}\n"
                      "\nextern \"C\" __global__ void __launch_bounds__(most_threads)\n"
                      "{}(const __grid_constant__ Pairs a, const __grid_constant__ Pairs b,\n"
                      "    const __grid_constant__ Sum c, const __grid_constant__ Chain chain) {{\n"
                      "    add(a, b, c, chain);\n}}\n",
                      merge_pairs_entry, merge_sum_entry),
        {merge_pairs_entry, merge_sum_entry});
}

} // namespace bench
