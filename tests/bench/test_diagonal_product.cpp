// Products of matrices stored by diagonals, in both schemes, played on the host: whole numbers, so exactly.
#include "bench/families.hpp"
#include "bench/kernels/diagonal_product.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/run.hpp"
#include "tests/support/uploaded.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

using namespace bench;
using namespace libperm;
using perm::families::Random;

namespace {

struct Diagonals {
    DiagonalStorage storage;
    std::vector<std::int32_t> at;
    std::vector<double> value;

    double entry(std::uint32_t n, std::uint32_t i, std::uint32_t j) const {
        const auto size = static_cast<std::int32_t>(n);
        std::int32_t d = static_cast<std::int32_t>(j) - static_cast<std::int32_t>(i);
        if (storage == DiagonalStorage::cdm) d = (d + size) % size;
        const auto found = std::find(at.begin(), at.end(), d);
        if (found == at.end()) return 0;
        const DiagonalLine line =
            diagonal_lines(storage, n, at)[static_cast<std::size_t>(found - at.begin())];
        return value[line.at + i - line.low];
    }
};

Diagonals any_diagonals(Random &random, DiagonalStorage storage, std::uint32_t n) {
    Diagonals m{storage, {}, {}};
    const auto size = static_cast<std::int32_t>(n);
    for (std::int32_t d = storage == DiagonalStorage::hm ? 1 - size : 0; d < size; ++d)
        if (random.chance(0.3)) m.at.push_back(d);
    for (const DiagonalLine &line : diagonal_lines(storage, n, m.at))
        for (std::uint32_t k = 0; k < line.rows; ++k)
            m.value.push_back(static_cast<double>(random.integer(-9, 9)));
    return m;
}

std::vector<double> product_of(HostQueue &queue, std::uint32_t n, const Diagonals &a,
                               const std::vector<double> &b, const DiagonalPlan &plan) {
    const DeviceArray left = uploaded(queue, a.value), right = uploaded(queue, b),
                      first = uploaded(queue, plan.first), pairs = uploaded(queue, plan.pairs),
                      lines = uploaded(queue, plan.lines),
                      to = uploaded(queue, std::vector<double>(plan.stored));
    DiagonalProduct product{n,
                            static_cast<std::uint32_t>(plan.diagonals.size()),
                            left.address(),
                            right.address(),
                            to.address(),
                            first.address(),
                            pairs.address(),
                            lines.address()};
    const unsigned threads = queue.block_threads(16);
    const std::array<void *, 1> arguments{&product};
    queue.launch(a.storage == DiagonalStorage::hm ? hm_product_entry : cdm_product_entry,
                 (n + threads - 1) / threads * product.diagonals, threads, arguments, 0);
    std::vector<double> c(plan.stored);
    queue.copy_out(c.data(), to.address(), 8 * c.size());
    return c;
}

std::vector<double> times_vector(HostQueue &queue, std::uint32_t n, const Diagonals &a,
                                 const std::vector<double> &x) {
    const DeviceArray left = uploaded(queue, a.value), right = uploaded(queue, x),
                      pairs = uploaded(queue, diagonal_pairs(a.storage, n, a.at)),
                      to = uploaded(queue, std::vector<double>(n));
    DiagonalProduct product{n,
                            static_cast<std::uint32_t>(a.at.size()),
                            left.address(),
                            right.address(),
                            to.address(),
                            0,
                            pairs.address(),
                            0};
    const unsigned threads = queue.block_threads(16), rows = threads / diagonal_row_threads;
    const std::array<void *, 1> arguments{&product};
    queue.launch(a.storage == DiagonalStorage::hm ? hm_vector_entry : cdm_vector_entry, (n + rows - 1) / rows,
                 threads, arguments, 0);
    std::vector<double> y(n);
    queue.copy_out(y.data(), to.address(), 8 * y.size());
    return y;
}

} // namespace

TEST_CASE("matrices of diagonals, times others and times vectors") {
    Random random(run::seed(0x64696167));
    HostQueue queue;
    queue.load(diagonal_product_kernels());
    int compared = 0;
    for (int trial = 0; trial < run::cases(40); ++trial) {
        const DiagonalStorage storage = trial % 2 == 0 ? DiagonalStorage::hm : DiagonalStorage::cdm;
        const auto n = static_cast<std::uint32_t>(random.integer(1, 40));
        CAPTURE(n);
        const Diagonals a = any_diagonals(random, storage, n), b = any_diagonals(random, storage, n);
        const DiagonalPlan plan = diagonal_plan(storage, n, a.at, b.at);
        if (!plan.diagonals.empty()) {
            const Diagonals c{storage, plan.diagonals, product_of(queue, n, a, b.value, plan)};
            for (std::uint32_t i = 0; i < n; ++i)
                for (std::uint32_t j = 0; j < n; ++j) {
                    double sum = 0;
                    for (std::uint32_t k = 0; k < n; ++k) sum += a.entry(n, i, k) * b.entry(n, k, j);
                    CHECK(c.entry(n, i, j) == sum);
                    ++compared;
                }
        }
        std::vector<double> x;
        for (std::uint32_t i = 0; i < n; ++i) x.push_back(static_cast<double>(random.integer(-9, 9)));
        const std::vector<double> y = times_vector(queue, n, a, x);
        for (std::uint32_t i = 0; i < n; ++i) {
            double sum = 0;
            for (std::uint32_t j = 0; j < n; ++j) sum += a.entry(n, i, j) * x[j];
            CHECK(y[i] == sum);
            ++compared;
        }
    }
    CHECK(queue.is_whole());
    CHECK(compared > run::enough(3000));
}
