#include "bench/sparse/diagonals.hpp"

#include "bench/sparse/on_device.hpp"
#include "bench/sparse/timing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

using namespace libperm;

namespace bench {
namespace {

double number_at(std::uint32_t i, std::uint32_t j) { return 1 + (i + 3 * j) % 5; }

// One of many, and the sum of what it comes to.
std::pair<double, double> timed(DeviceQueue &queue, const DiagonalMatrix &a, const std::vector<double> &b,
                                const DiagonalPlan &plan, bool is_vector, int runs) {
    const DeviceArray left = uploaded(queue, a.value), right = uploaded(queue, b),
                      first = uploaded(queue, plan.first), pairs = uploaded(queue, plan.pairs),
                      lines = uploaded(queue, plan.lines);
    DeviceArray to(queue);
    to.reserve(8 * plan.stored);
    DiagonalProduct product{a.n,
                            static_cast<std::uint32_t>(is_vector ? a.diagonals.size() : plan.lines.size()),
                            left.address(),
                            right.address(),
                            to.address(),
                            first.address(),
                            pairs.address(),
                            lines.address()};
    const std::array<void *, 1> arguments{&product};
    const bool is_hm = a.storage == DiagonalStorage::hm;
    const char *const entry = is_vector ? is_hm ? hm_vector_entry : cdm_vector_entry
                              : is_hm   ? hm_product_entry
                                        : cdm_product_entry;
    const unsigned rows = is_vector ? diagonal_threads / diagonal_row_threads : diagonal_threads,
                   blocks = (a.n + rows - 1) / rows * (is_vector ? 1 : product.diagonals);
    const double seconds = seconds_each(
        runs, [&] { queue.launch(entry, blocks, diagonal_threads, arguments, 0); }, [&] { queue.wait(); });
    std::vector<double> c(plan.stored);
    queue.copy_out(c.data(), to.address(), 8 * c.size());
    return {seconds, std::accumulate(c.begin(), c.end(), 0.0)};
}

} // namespace

Csr DiagonalMatrix::rows() const {
    Csr out{"", false, n, {0}, {}, {}};
    const std::vector<DiagonalLine> lines = diagonal_lines(storage, n, diagonals);
    std::vector<std::pair<std::uint32_t, double>> row;
    for (std::uint32_t i = 0; i < n; ++i) {
        row.clear();
        for (std::size_t k = 0; k < lines.size(); ++k) {
            if (i < lines[k].low || i - lines[k].low >= lines[k].rows) continue;
            const double x = value[lines[k].at + i - lines[k].low];
            const std::uint32_t j = i + static_cast<std::uint32_t>(diagonals[k]);
            if (x != 0) row.emplace_back(j < n ? j : j - n, x);
        }
        std::sort(row.begin(), row.end());
        for (const auto &[j, x] : row) out.add(j, x);
        out.end_row();
    }
    return out;
}

DiagonalMatrix band_matrix(std::uint32_t n, std::uint32_t half) {
    DiagonalMatrix a{DiagonalStorage::cdm, n, {}, {}};
    for (std::uint32_t d = 0; d < n; ++d) {
        if (d > half && d + half < n) continue;
        a.diagonals.push_back(static_cast<std::int32_t>(d));
        for (std::uint32_t i = 0; i < n; ++i) {
            const bool is_there = d <= half ? i + d < n : i + d >= n;
            a.value.push_back(is_there ? number_at(i, (i + d) % n) : 0);
        }
    }
    return a;
}

DiagonalMatrix random_diagonals(std::uint32_t n, std::uint32_t count, perm::families::Random &random) {
    DiagonalMatrix a{DiagonalStorage::hm, n, {}, {}};
    const auto size = static_cast<std::int32_t>(n);
    while (a.diagonals.size() < count) {
        a.diagonals.push_back(static_cast<std::int32_t>(random.integer(1 - size, size - 1)));
        std::sort(a.diagonals.begin(), a.diagonals.end());
        a.diagonals.erase(std::unique(a.diagonals.begin(), a.diagonals.end()), a.diagonals.end());
    }
    const std::vector<DiagonalLine> lines = diagonal_lines(a.storage, n, a.diagonals);
    for (std::size_t k = 0; k < lines.size(); ++k)
        for (std::uint32_t i = lines[k].low; i < lines[k].low + lines[k].rows; ++i)
            a.value.push_back(number_at(i, i + static_cast<std::uint32_t>(a.diagonals[k])));
    return a;
}

DiagonalTimes time_diagonal_vector(DeviceQueue &queue, CuSparse *cusparse, const DiagonalMatrix &a,
                                   int runs) {
    std::vector<double> x(a.n);
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = static_cast<double>(j % 7 + 1);
    const Csr rows = a.rows();
    double truth = 0;
    for (std::size_t k = 0; k < rows.column.size(); ++k) truth += rows.value[k] * x[rows.column[k]];
    DiagonalPlan plan;
    plan.pairs = diagonal_pairs(a.storage, a.n, a.diagonals);
    plan.stored = a.n;
    const auto [seconds, sum] = timed(queue, a, x, plan, true, runs);
    if (sum != truth) throw std::runtime_error("a product of diagonals and a vector is wrong");
    const VectorTimes by_rows = time_vector_product(queue, cusparse, rows, runs);
    return {seconds, by_rows.ours, by_rows.usual, a.n};
}

DiagonalTimes time_diagonal_product(SparseProduct &product, DeviceQueue &queue, CuSparse *cusparse,
                                    const DiagonalMatrix &a, const DiagonalMatrix &b, int runs) {
    const DiagonalPlan plan = diagonal_plan(a.storage, a.n, a.diagonals, b.diagonals);
    const Csr left = a.rows(), right = b.rows();
    std::vector<double> of_row(b.n);
    for (std::uint32_t i = 0; i < b.n; ++i)
        for (std::uint32_t k = right.first[i]; k < right.first[i + 1]; ++k) of_row[i] += right.value[k];
    double truth = 0;
    for (std::size_t k = 0; k < left.column.size(); ++k) truth += left.value[k] * of_row[left.column[k]];
    const auto [seconds, sum] = timed(queue, a, b.value, plan, false, runs);
    if (sum != truth) throw std::runtime_error("a product of diagonals is wrong");
    const Times by_rows = time_matrix_product(product, queue, cusparse, left, right, std::max(1, runs / 5));
    return {seconds, by_rows.ours, by_rows.theirs, plan.stored};
}

} // namespace bench
