// The tile that products by tensor cores are made of, played on the host.
#include "bench/families.hpp"
#include "jit/kernel/device_code.hpp"
#include "jit/kernel/tensor_tile.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/run.hpp"
#include "tests/support/uploaded.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

using namespace libperm;
using perm::families::Random;

namespace {

constexpr std::size_t steps = 4, depth = steps * tile_step;

KernelRecipe one_tile() {
    KernelRecipe recipe;
    recipe.key = "one tile\n";
    recipe.source = [] {
        return std::string(tensor_tile_cuh) + R"(
extern "C" __global__ void __launch_bounds__(32)
one_tile(const double *a, const double *b, double *c, double prime) {
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    double left[8], right[4], sum[4];
    __syncthreads();
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
    for (int k = 0; k < 4; ++k)
        c[(g + k / 2 * 8) * 8 + 2 * t + k % 2] = prime == 0 ? sum[k] : reduced(sum[k], prime, 1 / prime);
}
)";
    };
    recipe.flags = kernel_flags();
    recipe.entries = {"one_tile"};
    return recipe;
}

} // namespace

TEST_CASE("A tile: twice a product added to it, in order, and reduced") {
    Random random(run::seed(0x74696c65));
    HostQueue queue;
    queue.load(one_tile());
    for (const double prime : {0.0, 33554393.0, 16777213.0, 67.0}) {
        CAPTURE(prime);
        const auto number = [&] {
            return prime == 0 ? random.uniform() - 0.5
                              : std::floor(prime * random.uniform()) - std::floor(prime / 2);
        };
        std::vector<double> a(tile_rows * depth), b(depth * tile_columns), c(tile_rows * tile_columns);
        for (std::vector<double> *list : {&a, &b, &c})
            for (double &x : *list) x = number();
        const DeviceArray left = uploaded(queue, a), right = uploaded(queue, b), sum = uploaded(queue, c);
        DeviceAddress at[] = {left.address(), right.address(), sum.address()};
        double p = prime;
        const std::array<void *, 4> arguments{at, at + 1, at + 2, &p};
        queue.launch("one_tile", 1, 32, arguments, 0);
        std::vector<double> found(c.size());
        queue.copy_out(found.data(), sum.address(), 8 * found.size());
        for (std::size_t i = 0; i < tile_rows; ++i)
            for (std::size_t j = 0; j < tile_columns; ++j) {
                double x = c[i * tile_columns + j];
                for (std::size_t k = 0; k < 2 * depth; ++k)
                    x = std::fma(a[i * depth + k % depth], b[k % depth * tile_columns + j], x);
                const double y = found[i * tile_columns + j];
                if (prime == 0) {
                    CHECK(x == y);
                } else {
                    CHECK(std::fmod(x - y, prime) == 0);
                    CHECK(std::fabs(y) <=
                          static_cast<double>(largest_residue(static_cast<std::uint64_t>(prime))));
                }
            }
    }
    CHECK(queue.is_whole());
}

TEST_CASE("How many products a residue takes") {
    const auto of_residues = [](std::uint64_t p) { return products_before_reducing(largest_residue(p), p); };
    CHECK(of_residues(67108859) == 8);   // below 2^26
    CHECK(of_residues(33554393) == 32);  // 2^25
    CHECK(of_residues(16777213) == 128); // 2^24
    CHECK(of_residues(8388593) == 512);  // 2^23
    CHECK(products_before_reducing(1, (std::uint64_t{1} << 47) - 115) == 127);
    for (const std::uint64_t p : {5U, 67U, 33554393U, 4294967291U})
        for (const std::uint64_t a : {1U, 3U, 1000U}) {
            __extension__ using Wide = unsigned __int128;
            const Wide sum = static_cast<Wide>(products_before_reducing(a, p)) * a * largest_residue(p) +
                             largest_residue(p);
            CHECK(sum < static_cast<Wide>(1) << 53);
        }
}
