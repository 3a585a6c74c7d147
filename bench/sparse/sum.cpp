#include "bench/sparse/products.hpp"

#include "bench/kernels/merge_sum.hpp"
#include "bench/sparse/on_device.hpp"
#include "bench/sparse/timing.hpp"

#include <array>
#include <numeric>
#include <stdexcept>

using namespace libperm;

namespace bench {

Times time_sum(DeviceQueue &queue, CuSparse *cusparse, const Csr &a, const Csr &b, int runs) {
    const OnDevice x(queue, a), y(queue, b);
    const std::uint32_t rows = a.rows(), all = x.entries + y.entries, tile = sum_threads * sum_items,
                        tiles = (all + tile - 1) / tile;
    const DeviceArray x_key = uploaded(queue, std::vector<std::uint64_t>(x.entries)),
                      y_key = uploaded(queue, std::vector<std::uint64_t>(y.entries)),
                      first = uploaded(queue, std::vector<std::uint32_t>(rows + 1)),
                      column = uploaded(queue, std::vector<std::uint32_t>(all)),
                      value = uploaded(queue, std::vector<double>(all)),
                      words = uploaded(queue, std::vector<std::uint64_t>(2, 0)),
                      sums = uploaded(queue, std::vector<std::uint64_t>(tiles, 0));
    SumPairs left{x.entries, x_key.address(), x.value.address()},
        right{y.entries, y_key.address(), y.value.address()};
    SparseSum c{rows, first.address(), column.address(), value.address()};
    SumChain chain{0, words.address(), words.address() + 8, sums.address()};
    const auto pairs = [&](const OnDevice &m, DeviceAddress key) {
        SumRows lines{m.rows, m.entries, m.first.address(), m.column.address()};
        const std::array<void *, 2> arguments{&lines, &key};
        queue.launch(merge_pairs_entry, (m.entries + tile - 1) / tile, sum_threads, arguments, 0);
    };
    Times out;
    out.ours = seconds_each(
        runs,
        [&] {
            pairs(x, x_key.address());
            pairs(y, y_key.address());
            ++chain.launch;
            const std::array<void *, 4> arguments{&left, &right, &c, &chain};
            queue.launch(merge_sum_entry, tiles, sum_threads, arguments, 0);
        },
        [&] { queue.wait(); });
    queue.copy_out(&out.entries, c.first + 4 * std::uint64_t{rows}, 4);
    std::vector<double> values(out.entries);
    queue.copy_out(values.data(), c.value, 8 * values.size());
    const auto sum = [](const std::vector<double> &list) {
        return std::accumulate(list.begin(), list.end(), 0.0);
    };
    if (sum(values) != sum(a.value) + sum(b.value)) throw std::runtime_error(a.name + ": the sum is wrong");
    if (!cusparse) return out;
    out.theirs = seconds_each(
        runs,
        [&] {
            cusparse->add(x.csr(), y.csr(), {c.first, c.column, c.value});
        },
        [&] { cusparse->synchronize(); });
    cusparse->forget();
    return out;
}

} // namespace bench
