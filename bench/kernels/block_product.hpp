// The kernels of a sparse matrix in dense blocks times a dense one (block_product.cuh), and the
// matrix as they take it.
#pragma once

#include "jit/compile/kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

// What follows stands in block_product.cuh as well.
constexpr unsigned block_product_threads = 256, block_product_lanes = 128;
constexpr std::uint32_t strip_rows = 64, tile_rows = 16, step_columns = 16;

struct BlockStrip {
    std::uint32_t row, step, steps;
};
struct BlockStep {
    std::uint32_t tile, mask;
};
struct BlockProduct {
    std::uint64_t strips, steps, columns, tiles, rows, x, y; // addresses
    std::uint32_t lanes, height, steps_before_reducing;
    double prime, inverse;
};

// Of doubles: each product and its addition round once at most, in the order of the steps and, within one,
// in the hardware's. Of residues modulo a prime: exactly.
// Blocks: strips times ceil(lanes / block_product_lanes), of block_product_threads, each with so many bytes
// of shared memory (DeviceQueue::allow_shared).
constexpr std::size_t block_product_bytes =
    2 * 8 * (step_columns * (block_product_lanes + 4) + strip_rows * step_columns);
constexpr const char *block_product_entry = "perm_block_product",
                     *block_residues_entry = "perm_block_residues";

libperm::KernelRecipe block_product_kernels();

// Strips with more steps come first. A strip's columns are those in which it has entries, those that the
// same tiles have side by side; missing ones of the last step are its last column, with zeros.
struct RowBlocks {
    std::vector<BlockStrip> strips;
    std::vector<BlockStep> steps;
    std::vector<std::uint32_t> columns, rows;
    std::vector<double> tiles; // 256 numbers each

    double entries() const { return static_cast<double>(tiles.size()); } // with the zeros among them
};
// Rows in the order that is told; columns ascending in each.
RowBlocks row_blocks(const std::vector<std::uint32_t> &first, const std::vector<std::uint32_t> &column,
                     const std::vector<double> &value, std::vector<std::uint32_t> order);

// What a reduced residue is at most: the quotient may be half a unit and |x| 2^-53 / p < 1 / p off.
constexpr std::uint64_t largest_residue(std::uint64_t prime) { return (prime + 1) / 2; }

// So many products of a whole number |a| <= largest and a residue can be added to a residue before the sum
// leaves 2^53. Of residues times residues that is 32 for primes below 2^25, 128 below 2^24, 512 below 2^23;
// of the small whole numbers of counting it is more, for larger primes.
constexpr std::uint64_t products_before_reducing(std::uint64_t largest, std::uint64_t prime) {
    const std::uint64_t residue = largest_residue(prime);
    return ((std::uint64_t{1} << 53) - 1 - residue) / residue / (largest == 0 ? 1 : largest);
}

// How many steps of residues can be added up (`largest`: of |A|'s entries, `row_sum`: of its rows' sums); 0:
// not one, the prime is too large.
std::uint32_t steps_before_reducing(std::uint64_t largest, std::uint64_t row_sum, std::uint64_t prime);

} // namespace bench
