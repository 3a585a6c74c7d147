// Products of matrices in dense blocks, played on the host, and on a GPU where there is one: doubles within
// their bound, residues exactly.
#include "bench/families.hpp"
#include "bench/kernels/block_product.hpp"
#include "bench/kernels/similar_rows.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/run/gpu_device.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/run.hpp"
#include "tests/support/uploaded.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

using namespace bench;
using namespace libperm;
using perm::families::Random;

namespace {

__extension__ using Wide = __int128;

struct Rows {
    std::vector<std::uint32_t> first{0}, column;
    std::vector<double> value;
    std::uint32_t height() const { return static_cast<std::uint32_t>(first.size()) - 1; }
};

template <class Number> Rows any_rows(Random &random, std::uint32_t columns, const Number &number) {
    Rows a;
    const auto rows = static_cast<std::uint32_t>(random.integer(1, 90));
    const double density = random.uniform() * random.uniform();
    for (std::uint32_t i = 0; i < rows; ++i) {
        for (std::uint32_t j = 0; j < columns; ++j)
            if (random.chance(density)) {
                a.column.push_back(j);
                a.value.push_back(number());
            }
        a.first.push_back(static_cast<std::uint32_t>(a.column.size()));
    }
    return a;
}

// The first GPU's queue, and the host's.
template <class Work> void on_each_queue(const Work &work) {
    if (const GpuChoice choice = first_gpu(); choice.gpu) {
        const Gpu::Current current(*choice.gpu);
        GpuQueue gpu(choice.gpu, {});
        gpu.load(block_product_kernels());
        work(gpu);
    }
    HostQueue host;
    host.load(block_product_kernels());
    work(host);
    CHECK(host.is_whole());
}

struct Case {
    Rows a;
    std::uint32_t columns, lanes;
    std::vector<double> x;
};

template <class Number, class Entry>
Case any_case(Random &random, const Number &number, const Entry &entry, std::uint32_t most_columns) {
    const auto columns = static_cast<std::uint32_t>(random.integer(1, most_columns));
    Case c{
        any_rows(random, columns, entry), columns, 32 * static_cast<std::uint32_t>(random.integer(1, 2)), {}};
    for (std::uint32_t k = 0; k < columns * c.lanes; ++k) c.x.push_back(number());
    return c;
}

std::vector<double> product(DeviceQueue &queue, const Case &c, double tau, double prime,
                            std::uint32_t steps) {
    const RowGroups groups = similar_rows(c.a.first, c.a.column, c.columns, 4, tau);
    const RowBlocks blocks = row_blocks(c.a.first, c.a.column, c.a.value, groups.row);
    const std::vector<double> nothing(std::size_t{c.a.height()} * c.lanes,
                                      std::numeric_limits<double>::quiet_NaN());
    const DeviceArray strips = uploaded(queue, blocks.strips), list = uploaded(queue, blocks.steps),
                      columns = uploaded(queue, blocks.columns), tiles = uploaded(queue, blocks.tiles),
                      rows = uploaded(queue, blocks.rows), x = uploaded(queue, c.x),
                      y = uploaded(queue, nothing);
    BlockProduct m{strips.address(),
                   list.address(),
                   columns.address(),
                   tiles.address(),
                   rows.address(),
                   x.address(),
                   y.address(),
                   c.lanes,
                   c.a.height(),
                   steps,
                   prime,
                   prime == 0 ? 0 : 1 / prime};
    const std::array<void *, 1> arguments{&m};
    for (const char *entry : {block_product_entry, block_residues_entry})
        queue.allow_shared(entry, block_product_bytes);
    const auto groups_of_lanes = (c.lanes + block_product_lanes - 1) / block_product_lanes;
    queue.launch(prime == 0 ? block_product_entry : block_residues_entry,
                 static_cast<unsigned>(blocks.strips.size()) * groups_of_lanes, block_product_threads,
                 arguments, block_product_bytes);
    std::vector<double> found(nothing.size());
    queue.copy_out(found.data(), y.address(), 8 * found.size());
    return found;
}

} // namespace

TEST_CASE("doubles: within the bound of as many roundings as a row has products") {
    int compared = 0;
    on_each_queue([&](DeviceQueue &queue) {
        Random random(run::seed(0x626c6f63));
        for (int trial = 0; trial < run::cases(12); ++trial) {
            const auto number = [&] { return random.uniform() - 0.5; };
            const Case c = any_case(random, number, number, 80);
            CAPTURE(c.a.height());
            CAPTURE(c.columns);
            const std::vector<double> y = product(queue, c, random.uniform(), 0, 0);
            for (std::uint32_t i = 0; i < c.a.height(); ++i)
                for (std::uint32_t l = 0; l < c.lanes; ++l) {
                    long double sum = 0, size = 0;
                    for (std::uint32_t k = c.a.first[i]; k < c.a.first[i + 1]; ++k) {
                        const long double term = static_cast<long double>(c.a.value[k]) *
                                                 static_cast<long double>(c.x[c.a.column[k] * c.lanes + l]);
                        sum += term;
                        size += std::fabs(term);
                    }
                    const double terms = c.a.first[i + 1] - c.a.first[i];
                    CHECK(std::fabs(static_cast<double>(y[i * c.lanes + l] - sum)) <=
                          2 * terms * std::numeric_limits<double>::epsilon() / 2 * static_cast<double>(size));
                    ++compared;
                }
        }
    });
    CHECK(compared > run::enough(1000));
}

TEST_CASE("residues: of whole numbers and of other residues, exactly") {
    struct Kind {
        std::int64_t prime, largest; // of A's entries; 0: residues
    };
    int compared = 0, reduced_between = 0;
    on_each_queue([&](DeviceQueue &queue) {
        Random random(run::seed(0x62726573));
        for (const Kind kind :
             {Kind{33554393, 0}, Kind{16777213, 0}, Kind{67, 0}, Kind{140737488355213, 5}, Kind{1048573, 9}})
            for (int trial = 0; trial < run::cases(4); ++trial) {
                const auto half = (kind.prime - 1) / 2;
                const auto largest = kind.largest == 0 ? half : kind.largest;
                const auto residue = [&] { return static_cast<double>(random.integer(-half, half)); };
                const auto entry = [&] { return static_cast<double>(random.integer(-largest, largest)); };
                const Case c = any_case(random, residue, entry, 150);
                CAPTURE(kind.prime);
                CAPTURE(c.columns);
                std::uint64_t row_sum = 0;
                for (std::uint32_t i = 0; i < c.a.height(); ++i) {
                    std::uint64_t sum = 0;
                    for (std::uint32_t k = c.a.first[i]; k < c.a.first[i + 1]; ++k)
                        sum += static_cast<std::uint64_t>(std::fabs(c.a.value[k]));
                    row_sum = std::max(row_sum, sum);
                }
                const auto prime = static_cast<std::uint64_t>(kind.prime);
                const std::uint32_t steps =
                    steps_before_reducing(static_cast<std::uint64_t>(largest), row_sum, prime);
                REQUIRE(steps > 0);
                if (steps < c.columns / step_columns) ++reduced_between;
                const std::vector<double> y =
                    product(queue, c, random.uniform(), static_cast<double>(prime), steps);
                for (std::uint32_t i = 0; i < c.a.height(); ++i)
                    for (std::uint32_t l = 0; l < c.lanes; ++l) {
                        Wide sum = 0;
                        for (std::uint32_t k = c.a.first[i]; k < c.a.first[i + 1]; ++k)
                            sum += static_cast<Wide>(c.a.value[k]) *
                                   static_cast<Wide>(c.x[c.a.column[k] * c.lanes + l]);
                        const double found = y[i * c.lanes + l];
                        CHECK((sum - static_cast<Wide>(found)) % kind.prime == 0);
                        CHECK(std::fabs(found) <= static_cast<double>(largest_residue(prime)));
                        ++compared;
                    }
            }
    });
    CHECK(compared > run::enough(1000));
    CHECK(reduced_between > 0);
    CHECK(steps_before_reducing(33554424, 1 << 30, 67108859) == 0); // 8 products of these alone
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
