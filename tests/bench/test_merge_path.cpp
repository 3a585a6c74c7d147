// Sparse matrices by merge path, played on the host: times a vector, their sum and their product. Whole
// numbers, so exactly.
#include "bench/families.hpp"
#include "bench/kernels/matrix_product.hpp"
#include "bench/kernels/merge_product.hpp"
#include "bench/kernels/merge_sum.hpp"
#include "bench/kernels/sparse_product.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/run.hpp"
#include "tests/support/uploaded.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

using namespace bench;
using namespace libperm;
using perm::families::Random;

namespace {

struct Csr {
    std::vector<std::uint32_t> first{0}, column;
    std::vector<double> value;
};

// Rows without entries, rows of a few, and some that many tiles share.
Csr any_matrix(Random &random, std::int64_t rows, std::int64_t columns) {
    Csr a;
    const double long_rows = 0.01 * static_cast<double>(random.integer(0, 3));
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t length = random.chance(long_rows) ? random.integer(1000, 4000)
                                    : random.chance(0.3)     ? 0
                                                             : random.integer(1, 9);
        for (std::int64_t k = 0; k < length; ++k) {
            a.column.push_back(static_cast<std::uint32_t>(random.integer(0, columns - 1)));
            a.value.push_back(static_cast<double>(random.integer(-9, 9)));
        }
        a.first.push_back(static_cast<std::uint32_t>(a.column.size()));
    }
    return a;
}

// No column twice in a row, ascending.
Csr sorted(const Csr &a) {
    Csr out;
    for (std::size_t i = 0; i + 1 < a.first.size(); ++i) {
        std::map<std::uint32_t, double> row;
        for (std::uint32_t k = a.first[i]; k < a.first[i + 1]; ++k) row[a.column[k]] = a.value[k];
        for (const auto &[j, x] : row) {
            out.column.push_back(j);
            out.value.push_back(x);
        }
        out.first.push_back(static_cast<std::uint32_t>(out.column.size()));
    }
    return out;
}

} // namespace

TEST_CASE("rows of any length, cut into tiles") {
    Random random(run::seed(0x6d657267));
    HostQueue queue;
    queue.load(merge_product_kernels());
    int compared = 0, in_tiles = 0;
    for (int trial = 0; trial < run::cases(24); ++trial) {
        const std::int64_t rows = random.integer(1, trial % 4 == 0 ? 8 : 400),
                           columns = random.integer(1, 500);
        const Csr a = any_matrix(random, rows, columns);
        CAPTURE(rows);
        CAPTURE(a.column.size());
        queue.device.block_threads = trial % 2 == 0 ? 16 : 64;
        const unsigned threads = queue.block_threads(merge_threads);
        std::vector<double> x;
        for (std::int64_t j = 0; j < columns; ++j) x.push_back(static_cast<double>(random.integer(-99, 99)));
        const DeviceArray first = uploaded(queue, a.first), column = uploaded(queue, a.column),
                          value = uploaded(queue, a.value), from = uploaded(queue, x);
        MergeMatrix matrix{static_cast<std::uint32_t>(rows),
                           static_cast<std::uint32_t>(a.column.size()),
                           first.address(),
                           column.address(),
                           value.address(),
                           0,
                           threads * merge_items};
        const std::uint32_t tiles = (matrix.rows + matrix.entries + matrix.tile - 1) / matrix.tile;
        const DeviceArray cuts = uploaded(queue, std::vector<std::uint32_t>(tiles + 1)),
                          parts = uploaded(queue, std::vector<MergePart>(tiles, {0, 0, 0})),
                          to = uploaded(queue, std::vector<double>(static_cast<std::size_t>(rows), -1));
        matrix.cuts = cuts.address();
        const std::array<void *, 1> cutting{&matrix};
        queue.launch(merge_cut_entry, tiles / threads + 1, threads, cutting, 0);
        DeviceAddress x_at = from.address(), y_at = to.address(), parts_at = parts.address();
        for (int launch = 0; launch < 2; ++launch) {
            const std::array<void *, 4> arguments{&matrix, &x_at, &y_at, &parts_at};
            queue.launch(merge_product_entry, tiles, threads, arguments, 0);
            std::vector<double> y(static_cast<std::size_t>(rows));
            queue.copy_out(y.data(), y_at, 8 * y.size());
            for (std::size_t i = 0; i < y.size(); ++i) {
                double sum = 0;
                for (std::uint32_t k = a.first[i]; k < a.first[i + 1]; ++k)
                    sum += a.value[k] * x[a.column[k]];
                CHECK(y[i] == sum);
                ++compared;
            }
        }
        in_tiles += tiles > 3;
    }
    CHECK(queue.is_whole());
    CHECK(compared > run::enough(1000));
    CHECK(in_tiles > run::enough(5));
}

TEST_CASE("the union of two matrices' entries") {
    Random random(run::seed(0x6d756d));
    HostQueue queue;
    queue.load(merge_sum_kernels());
    int compared = 0, both = 0, in_tiles = 0;
    for (int trial = 0; trial < run::cases(24); ++trial) {
        const std::int64_t rows = random.integer(1, trial % 4 == 0 ? 8 : 300),
                           columns = random.integer(1, 400);
        queue.device.block_threads = trial % 2 == 0 ? 16 : 64;
        const unsigned threads = queue.block_threads(sum_threads), tile = threads * sum_items;
        const Csr a = sorted(any_matrix(random, rows, columns)),
                  b = sorted(any_matrix(random, rows, columns));
        const std::size_t all = a.column.size() + b.column.size();
        if (all == 0) continue;
        std::vector<DeviceArray> held;
        const auto hold = [&](DeviceArray array) {
            held.push_back(std::move(array));
            return held.back().address();
        };
        const auto pairs_of = [&](const Csr &m) {
            SumRows lines{static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(m.column.size()),
                          hold(uploaded(queue, m.first)), hold(uploaded(queue, m.column))};
            DeviceAddress key = hold(uploaded(queue, std::vector<std::uint64_t>(m.column.size())));
            const std::array<void *, 2> arguments{&lines, &key};
            if (lines.entries > 0)
                queue.launch(merge_pairs_entry, (lines.entries + tile - 1) / tile, threads, arguments, 0);
            return SumPairs{m.column.size(), key, hold(uploaded(queue, m.value))};
        };
        SumPairs left = pairs_of(a), right = pairs_of(b);
        const auto tiles = static_cast<unsigned>((all + tile - 1) / tile);
        SparseSum c{
            static_cast<std::uint32_t>(rows),
            hold(uploaded(queue, std::vector<std::uint32_t>(static_cast<std::size_t>(rows) + 1, ~0U))),
            hold(uploaded(queue, std::vector<std::uint32_t>(all))),
            hold(uploaded(queue, std::vector<double>(all)))};
        SumChain chain{1, hold(uploaded(queue, std::vector<std::uint64_t>(2, 0))), 0,
                       hold(uploaded(queue, std::vector<std::uint64_t>(tiles, 0)))};
        chain.done = chain.next + 8;
        const std::array<void *, 4> arguments{&left, &right, &c, &chain};
        queue.launch(merge_sum_entry, tiles, threads, arguments, 0);
        std::vector<std::uint32_t> first(static_cast<std::size_t>(rows) + 1), column(all);
        std::vector<double> value(all);
        queue.copy_out(first.data(), c.first, 4 * first.size());
        queue.copy_out(column.data(), c.column, 4 * all);
        queue.copy_out(value.data(), c.value, 8 * all);
        std::uint32_t k = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
            std::map<std::uint32_t, double> sum;
            for (const Csr *m : {&a, &b})
                for (std::uint32_t e = m->first[i]; e < m->first[i + 1]; ++e)
                    sum[m->column[e]] += m->value[e];
            CHECK(first[i] == k);
            for (const auto &[j, x] : sum) {
                REQUIRE(k < all);
                CHECK(column[k] == j);
                CHECK(value[k++] == x);
                ++compared;
            }
        }
        CHECK(first.back() == k);
        both += k < all;
        in_tiles += tiles > 3;
    }
    CHECK(queue.is_whole());
    CHECK(compared > run::enough(1000));
    CHECK(both > run::enough(5));
    CHECK(in_tiles > run::enough(5));
}

TEST_CASE("the product of two matrices, in tiles of single products") {
    Random random(run::seed(0x6d7061));
    HostQueue queue;
    int compared = 0, in_tiles = 0, shared = 0;
    for (int trial = 0; trial < run::cases(24); ++trial) {
        queue.device.block_threads = trial % 2 == 0 ? 16 : 64;
        const std::int64_t rows = random.integer(1, trial % 4 == 0 ? 8 : 200),
                           middle = random.integer(1, trial % 3 == 0 ? 4000 : 60),
                           columns = random.integer(1, 300);
        // Far apart, they need the map of a row's columns several times.
        const std::uint32_t apart = random.chance(0.3) ? 2000 : 1;
        const Csr a = sorted(any_matrix(random, rows, middle));
        Csr b = sorted(any_matrix(random, middle, columns));
        for (std::uint32_t &j : b.column) j *= apart;
        SparseProduct product(queue);
        std::vector<DeviceArray> held;
        const auto matrix_of = [&](const Csr &m, std::uint64_t of_columns) {
            DeviceMatrix out{static_cast<std::uint32_t>(m.first.size() - 1),
                             static_cast<std::uint32_t>(of_columns),
                             static_cast<std::uint32_t>(m.column.size())};
            held.push_back(uploaded(queue, m.first));
            out.first = held.back().address();
            held.push_back(uploaded(queue, m.column));
            out.column = held.back().address();
            held.push_back(uploaded(queue, m.value));
            out.value = held.back().address();
            return out;
        };
        const DeviceMatrix left = matrix_of(a, static_cast<std::uint64_t>(middle)),
                           right = matrix_of(b, static_cast<std::uint64_t>(columns) * apart);
        const std::uint64_t tile = queue.block_threads(product_threads) * product_items;
        for (int again = 0; again < 2; ++again) {
            const DeviceMatrix c = product.multiply(left, right);
            std::vector<std::uint32_t> first(static_cast<std::size_t>(rows) + 1), column(c.entries);
            std::vector<double> value(c.entries);
            queue.copy_out(first.data(), c.first, 4 * first.size());
            if (c.entries > 0) {
                queue.copy_out(column.data(), c.column, 4 * column.size());
                queue.copy_out(value.data(), c.value, 8 * value.size());
            }
            std::uint32_t k = 0;
            std::uint64_t before = 0;
            for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
                std::map<std::uint32_t, double> sum;
                const std::uint64_t begin = before;
                for (std::uint32_t e = a.first[i]; e < a.first[i + 1]; ++e)
                    for (std::uint32_t f = b.first[a.column[e]]; f < b.first[a.column[e] + 1]; ++f, ++before)
                        sum[b.column[f]] += a.value[e] * b.value[f];
                shared += before > begin && begin / tile != (before - 1) / tile;
                REQUIRE(first[i] == k);
                for (const auto &[j, x] : sum) {
                    REQUIRE(k < c.entries);
                    CHECK(column[k] == j);
                    CHECK(value[k++] == x);
                    ++compared;
                }
            }
            CHECK(first.back() == k);
            CHECK(c.entries == k);
            CHECK(product.products() == before);
            in_tiles += before > 3 * tile;
        }
    }
    CHECK(queue.is_whole());
    CHECK(compared > run::enough(10000));
    CHECK(in_tiles > run::enough(5));
    CHECK(shared > run::enough(50));
}

TEST_CASE("products of nothing, and with more columns than a key has room for") {
    HostQueue queue;
    SparseProduct product(queue);
    const std::vector<std::uint32_t> first{0, 1, 1}, column{1};
    const DeviceArray begin = uploaded(queue, first), end = uploaded(queue, column),
                      value = uploaded(queue, std::vector<double>{2});
    DeviceMatrix a{2, 2, 1, begin.address(), end.address(), value.address()};
    const DeviceMatrix c = product.multiply(a, a); // row 1 has no entries
    CHECK(c.entries == 0);
    std::vector<std::uint32_t> of_c(3, 7);
    queue.copy_out(of_c.data(), c.first, 4 * of_c.size());
    CHECK(of_c == std::vector<std::uint32_t>{0, 0, 0});
    const DeviceMatrix none{0, 2, 0, begin.address(), end.address(), value.address()};
    CHECK(product.multiply(none, a).entries == 0);
    a.columns = 1U << 31;
    CHECK_THROWS_AS(product.multiply(a, a), std::length_error);
}
