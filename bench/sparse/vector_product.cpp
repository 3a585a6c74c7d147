#include "bench/sparse/products.hpp"

#include "bench/kernels/merge_product.hpp"
#include "bench/sparse/on_device.hpp"
#include "bench/sparse/timing.hpp"

#include <fmt/core.h>

#include <array>
#include <stdexcept>

using namespace libperm;

namespace bench {

VectorTimes time_vector_product(DeviceQueue &queue, CuSparse *cusparse, const Csr &a, int runs) {
    std::vector<double> x(a.columns);
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = static_cast<double>(j % 7 + 1);
    const OnDevice there(queue, a);
    const std::uint32_t rows = there.rows, entries = there.entries, tile = merge_threads * merge_items,
                        tiles = (rows + entries + tile - 1) / tile;
    const DeviceArray from = uploaded(queue, x), to = uploaded(queue, std::vector<double>(rows)),
                      cuts = uploaded(queue, std::vector<std::uint32_t>(tiles + 1)),
                      parts = uploaded(queue, std::vector<MergePart>(tiles, {0, 0, 0}));
    MergeMatrix matrix{
        rows,           entries, there.first.address(), there.column.address(), there.value.address(),
        cuts.address(), tile};
    DeviceAddress x_at = from.address(), y_at = to.address(), parts_at = parts.address();
    const auto wait = [&] { queue.wait(); };
    VectorTimes out;
    out.cut = seconds_each(
        runs,
        [&] {
            const std::array<void *, 1> arguments{&matrix};
            queue.launch(merge_cut_entry, tiles / merge_threads + 1, merge_threads, arguments, 0);
        },
        wait);
    out.ours = seconds_each(
        runs,
        [&] {
            const std::array<void *, 4> arguments{&matrix, &x_at, &y_at, &parts_at};
            queue.launch(merge_product_entry, tiles, merge_threads, arguments, 0);
        },
        wait);
    std::vector<double> y(rows);
    queue.copy_out(y.data(), y_at, 8 * y.size());
    for (std::uint32_t i = 0; i < rows; ++i) { // whole numbers
        double sum = 0;
        for (std::uint32_t k = a.first[i]; k < a.first[i + 1]; ++k) sum += a.value[k] * x[a.column[k]];
        if (sum != y[i]) throw std::runtime_error(fmt::format("{}: row {} is wrong", a.name, i));
    }
    if (!cusparse) return out;
    const auto timed = [&](CuSparse::Algorithm algorithm) {
        cusparse->prepare(there.csr(), x_at, y_at, algorithm);
        return seconds_each(
            runs, [&] { cusparse->multiply(); }, [&] { cusparse->synchronize(); });
    };
    out.usual = timed(CuSparse::Algorithm::usual);
    out.balanced = timed(CuSparse::Algorithm::balanced);
    cusparse->forget();
    return out;
}

} // namespace bench
