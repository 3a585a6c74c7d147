// The benchmark's kernels as NVRTC takes them.
#include "bench/kernels/block_product.hpp"
#include "bench/kernels/diagonal_product.hpp"
#include "bench/kernels/factor_walk.hpp"
#include "bench/kernels/matrix_product.hpp"
#include "bench/kernels/merge_product.hpp"
#include "bench/kernels/merge_sum.hpp"
#include "bench/kernels/row_product.hpp"
#include "jit/compile/nvrtc.hpp"
#include "tests/support/nvrtc_target.hpp"
#include "tests/support/ptxas.hpp"

#include <doctest/doctest.h>

#include <set>
#include <utility>

using namespace bench;
using namespace libperm;

TEST_CASE("they compile without a spilled register, each kept under a key of its own") {
    const std::optional<std::string> target = nvrtc_target();
    if (!target) return;
    std::set<std::string> keys;
    const std::pair<KernelRecipe, int> all[] = {
        {merge_product_kernels(), 64},    {merge_sum_kernels(), 64},      {matrix_product_kernels(), 64},
        {diagonal_product_kernels(), 64}, {block_product_kernels(), 128}, {row_product_kernels(), 64},
        {factor_walk_kernels(), 64},
    };
    for (const auto &[kernels, registers] : all) {
        CHECK(keys.insert(kernels.key).second);
        for (const PtxasReport &report : read_ptxas(compile(kernels.source(), *target, kernels.flags).log)) {
            CAPTURE(report.kernel);
            CHECK(report.spill_stores == 0);
            CHECK(report.registers <= registers);
        }
    }
}
