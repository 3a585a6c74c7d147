#include "jit/kernel/diagonal_product.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

#include <map>

namespace libperm {

KernelRecipe diagonal_product_kernel() {
    KernelRecipe recipe;
    recipe.key = formatted("product of matrices stored by diagonals\ngenerator {}\n", generator_digest);
    recipe.source = [] {
        return std::string("// libperm: the product of two matrices stored by diagonals.\n\n") +
               diagonal_product_cuh +
               formatted("\nextern \"C\" __global__ void __launch_bounds__(most_threads)\n"
                         "{}(const __grid_constant__ Product product) {{\n    multiply(product);\n}}\n",
                         diagonal_product_entry);
    };
    recipe.flags = kernel_flags();
    recipe.entries = {diagonal_product_entry};
    return recipe;
}

DiagonalPairs diagonal_pairs(std::uint32_t n, const std::vector<std::uint32_t> &a,
                             const std::vector<std::uint32_t> &b) {
    std::map<std::uint32_t, std::vector<DiagonalPair>> of;
    for (std::uint32_t i = 0; i < a.size(); ++i)
        for (std::uint32_t j = 0; j < b.size(); ++j)
            of[static_cast<std::uint32_t>((std::uint64_t{a[i]} + b[j]) % n)].push_back({i, j, a[i]});
    DiagonalPairs out;
    for (const auto &[diagonal, pairs] : of) {
        out.diagonals.push_back(diagonal);
        out.pairs.insert(out.pairs.end(), pairs.begin(), pairs.end());
        out.first.push_back(static_cast<std::uint32_t>(out.pairs.size()));
    }
    return out;
}

} // namespace libperm
