// The tile that products by tensor cores are made of, played on the host.
#include "bench/families.hpp"
#include "bench/kernels/device_code.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/run.hpp"
#include "tests/support/uploaded.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

using namespace bench;
using namespace libperm;
using perm::families::Random;

namespace {

constexpr std::size_t tile_rows = 16, tile_columns = 8, tile_step = 4, steps = 4, depth = steps * tile_step;

KernelRecipe one_tile() {
    KernelRecipe recipe;
    recipe.key = "one tile\n";
    recipe.source = [] {
        return std::string(tensor_tile_cuh) + R"(
extern "C" __global__ void __launch_bounds__(32)
one_tile(const double *a, const double *b, double *c) {
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    double left[8], right[4], sum[4];
    for (int s = 0; s < 4; ++s) {
        left[2 * s] = a[g * 16 + 4 * s + t];
        left[2 * s + 1] = a[(g + 8) * 16 + 4 * s + t];
        right[s] = b[(4 * s + t) * 8 + g];
    }
    for (int k = 0; k < 4; ++k) sum[k] = c[(g + k / 2 * 8) * 8 + 2 * t + k % 2];
    add_product<1>(sum, left, right);
    add_product<1>(sum, left + 2, right + 1);
    add_product<2>(sum, left + 4, right + 2);
    add_product<4>(sum, left, right);
    for (int k = 0; k < 4; ++k) c[(g + k / 2 * 8) * 8 + 2 * t + k % 2] = sum[k];
}
)";
    };
    recipe.flags = kernel_flags();
    recipe.entries = {"one_tile"};
    return recipe;
}

} // namespace

TEST_CASE("A tile: twice a product added to it, in order") {
    Random random(run::seed(0x74696c65));
    HostQueue queue;
    queue.load(one_tile());
    std::vector<double> a(tile_rows * depth), b(depth * tile_columns), c(tile_rows * tile_columns);
    for (std::vector<double> *list : {&a, &b, &c})
        for (double &x : *list) x = random.uniform() - 0.5;
    const DeviceArray left = uploaded(queue, a), right = uploaded(queue, b), sum = uploaded(queue, c);
    DeviceAddress at[] = {left.address(), right.address(), sum.address()};
    const std::array<void *, 3> arguments{at, at + 1, at + 2};
    queue.launch("one_tile", 1, 32, arguments, 0);
    std::vector<double> found(c.size());
    queue.copy_out(found.data(), sum.address(), 8 * found.size());
    for (std::size_t i = 0; i < tile_rows; ++i)
        for (std::size_t j = 0; j < tile_columns; ++j) {
            double x = c[i * tile_columns + j];
            for (std::size_t k = 0; k < 2 * depth; ++k)
                x = std::fma(a[i * depth + k % depth], b[k % depth * tile_columns + j], x);
            CHECK(x == found[i * tile_columns + j]);
        }
    CHECK(queue.is_whole());
}
