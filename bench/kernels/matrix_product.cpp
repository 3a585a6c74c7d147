#include "bench/kernels/matrix_product.hpp"

#include "bench/kernels/device_code.hpp"
#include "jit/text/text.hpp"

#include <utility>

namespace bench {

using namespace libperm;

KernelRecipe matrix_product_kernels() {
    static constexpr std::pair<const char *, const char *> bodies[] = {
        {product_lengths_entry, "sum_lengths(p.entries, [&](u32 e) { return products_of(p, e); }, p.sums);"},
        {product_places_entry,
         "sum_up(p.entries, [&](u32 e) { return products_of(p, e); }, p.sums, p.before);"},
        {product_cuts_entry, "cut(p);"},
        {product_tiles_entry, "multiply_tile(p);"},
        {product_rows_entry, "add_shared(p);"},
        {product_sizes_entry, "sum_lengths(p.rows, [&](u32 r) { return size_of(p, r); }, p.sums);"},
        {product_firsts_entry, "sum_up(p.rows, [&](u32 r) { return size_of(p, r); }, p.sums, p.c_first);"},
        {product_write_entry, "write(p);"},
    };
    std::string text =
        formatted("// libperm: the product of two sparse matrices, in tiles of single products.\n\n"
                  "constexpr int items = {}, most_threads = {};\n\n",
                  product_items, product_threads) +
        merge_path_cuh + "\n" + product_tiles_cuh + "\n" + product_rows_cuh;
    std::vector<std::string> entries;
    for (const auto &[entry, body] : bodies) {
        text += formatted("\nextern \"C\" __global__ void __launch_bounds__(most_threads)\n"
                          "{}(const __grid_constant__ Product p) {{\n    {}\n}}\n",
                          entry, body);
        entries.emplace_back(entry);
    }
    return kernels_of(std::move(text), std::move(entries));
}

} // namespace bench
