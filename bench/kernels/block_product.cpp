#include "bench/kernels/block_product.hpp"

#include "bench/kernels/device_code.hpp"
#include "jit/text/text.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace bench {
namespace {

using namespace libperm;

constexpr std::uint32_t tile_size = tile_rows * step_columns;

// Where a tile's entry stands: by quarter of the columns, by lane, upper and lower half.
std::size_t place_in_tile(std::uint32_t row, std::uint32_t column) {
    const std::uint32_t lane = row % 8 * 4 + column % 4;
    return std::size_t{column / 4 * 32 + lane} * 2 + row / 8;
}

} // namespace

KernelRecipe block_product_kernels() {
    const auto kernel = [](const char *entry, const char *residues) {
        return formatted("\nextern \"C\" __global__ void __launch_bounds__(most_threads, 2)\n"
                         "{}(const __grid_constant__ BlockProduct product) {{\n"
                         "    multiply<{}>(product);\n}}\n",
                         entry, residues);
    };
    return kernels_of(std::string("// libperm: a sparse matrix in dense blocks times a dense one.\n\n") +
                          tensor_tile_cuh + "\n" + block_product_cuh + kernel(block_product_entry, "false") +
                          kernel(block_residues_entry, "true"),
                      {block_product_entry, block_residues_entry});
}

RowBlocks row_blocks(const std::vector<std::uint32_t> &first, const std::vector<std::uint32_t> &column,
                     const std::vector<double> &value, std::vector<std::uint32_t> order) {
    RowBlocks out;
    out.rows = std::move(order);
    const std::size_t width = column.empty() ? 0 : *std::max_element(column.begin(), column.end()) + 1;
    std::vector<std::uint32_t> mask_of(width, 0), place_of(width), columns; // of the strip
    for (std::uint32_t row = 0; row < out.rows.size(); row += strip_rows) {
        const auto end = std::min(row + strip_rows, static_cast<std::uint32_t>(out.rows.size()));
        const auto for_each_entry = [&](const auto &use) {
            for (std::uint32_t place = row; place < end; ++place)
                for (std::uint32_t k = first[out.rows[place]]; k < first[out.rows[place] + 1]; ++k)
                    use(place - row, k);
        };
        columns.clear();
        for_each_entry([&](std::uint32_t i, std::uint32_t k) {
            if (mask_of[column[k]] == 0) columns.push_back(column[k]);
            mask_of[column[k]] |= 1U << i / tile_rows;
        });
        std::sort(columns.begin(), columns.end(), [&](std::uint32_t i, std::uint32_t j) {
            return std::pair(mask_of[i], i) < std::pair(mask_of[j], j);
        });
        const auto begin = static_cast<std::uint32_t>(out.steps.size());
        for (std::uint32_t k = 0; k < columns.size(); ++k) {
            if (k % step_columns == 0) out.steps.push_back({0, 0});
            out.steps.back().mask |= std::exchange(mask_of[columns[k]], 0);
            place_of[columns[k]] = k;
        }
        out.columns.insert(out.columns.end(), columns.begin(), columns.end());
        while (out.columns.size() % step_columns != 0) out.columns.push_back(out.columns.back());
        const auto steps = static_cast<std::uint32_t>(out.steps.size()) - begin;
        auto tiles = static_cast<std::uint32_t>(out.tiles.size() / tile_size);
        for (std::uint32_t s = begin; s < begin + steps; ++s) {
            out.steps[s].tile = tiles;
            tiles += static_cast<std::uint32_t>(std::popcount(out.steps[s].mask));
        }
        out.tiles.resize(std::size_t{tiles} * tile_size);
        for_each_entry([&](std::uint32_t i, std::uint32_t k) {
            const std::uint32_t place = place_of[column[k]], tile = i / tile_rows;
            const BlockStep &step = out.steps[begin + place / step_columns];
            const auto before = static_cast<std::uint32_t>(std::popcount(step.mask & ((1U << tile) - 1)));
            out.tiles[std::size_t{step.tile + before} * tile_size +
                      place_in_tile(i % tile_rows, place % step_columns)] = value[k];
        });
        out.strips.push_back({row, begin, steps});
    }
    std::stable_sort(out.strips.begin(), out.strips.end(),
                     [](const BlockStrip &a, const BlockStrip &b) { return a.steps > b.steps; });
    return out;
}

std::uint32_t steps_before_reducing(std::uint64_t largest, std::uint64_t row_sum, std::uint64_t prime) {
    constexpr std::uint32_t always = std::numeric_limits<std::uint32_t>::max();
    if (products_before_reducing(row_sum, prime) > 0) return always;
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(products_before_reducing(largest, prime) / step_columns, always));
}

} // namespace bench
