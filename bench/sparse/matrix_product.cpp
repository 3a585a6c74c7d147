#include "bench/sparse/products.hpp"

#include "bench/sparse/on_device.hpp"
#include "bench/sparse/timing.hpp"

#include <algorithm>
#include <stdexcept>

using namespace libperm;

namespace bench {
namespace {

// Whole numbers: the sums of C's rows are A times those of B's, and columns ascend. Of many entries, the
// first.
void check(DeviceQueue &queue, const Csr &a, const Csr &b, const DeviceMatrix &c) {
    std::vector<std::uint32_t> first(std::size_t{c.rows} + 1);
    queue.copy_out(first.data(), c.first, 4 * first.size());
    const std::uint32_t rows = static_cast<std::uint32_t>(
        std::upper_bound(first.begin(), first.end(), 20000000U) - first.begin() - 1);
    std::vector<std::uint32_t> column(first[rows]);
    std::vector<double> value(first[rows]), of_b(b.rows());
    queue.copy_out(column.data(), c.column, 4 * column.size());
    queue.copy_out(value.data(), c.value, 8 * value.size());
    for (std::uint32_t i = 0; i < b.rows(); ++i)
        for (std::uint32_t k = b.first[i]; k < b.first[i + 1]; ++k) of_b[i] += b.value[k];
    for (std::uint32_t i = 0; i < rows; ++i) {
        double sum = 0, truth = 0;
        for (std::uint32_t k = first[i]; k < first[i + 1]; ++k) {
            sum += value[k];
            if (k > first[i] && column[k] <= column[k - 1]) throw std::runtime_error(a.name + ": unsorted");
        }
        for (std::uint32_t k = a.first[i]; k < a.first[i + 1]; ++k) truth += a.value[k] * of_b[a.column[k]];
        if (sum != truth) throw std::runtime_error(a.name + ": a product's row is wrong");
    }
}

} // namespace

Times time_matrix_product(SparseProduct &product, DeviceQueue &queue, CuSparse *cusparse, const Csr &a,
                          const Csr &b, int runs) {
    const OnDevice x(queue, a), y(queue, b);
    Times out;
    DeviceMatrix c;
    out.ours = seconds_each(
        runs, [&] { c = product.multiply(x.matrix(), y.matrix()); }, [&] { queue.wait(); });
    out.single = product.products();
    out.entries = c.entries;
    check(queue, a, b, c);
    if (!cusparse) return out;
    std::int64_t entries = 0;
    try {
        out.theirs = seconds_each(
            runs, [&] { entries = cusparse->multiply(x.csr(), y.csr()); }, [&] { cusparse->synchronize(); });
    } catch (const std::exception &) { // memory that is not there
    }
    cusparse->forget();
    if (out.theirs && entries != c.entries) throw std::runtime_error(a.name + ": cuSPARSE has other entries");
    return out;
}

} // namespace bench
