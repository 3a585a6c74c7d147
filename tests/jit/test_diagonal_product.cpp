// Products of matrices stored by diagonals, played on the host: whole numbers, so exactly.
#include "bench/families.hpp"
#include "jit/kernel/diagonal_product.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/run.hpp"
#include "tests/support/uploaded.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

using namespace libperm;
using perm::families::Random;

namespace {

struct Diagonals {
    std::vector<std::uint32_t> at;
    std::vector<double> value; // n each

    double entry(std::uint32_t n, std::uint32_t i, std::uint32_t j) const {
        const auto found = std::find(at.begin(), at.end(), (j + n - i) % n);
        return found == at.end() ? 0 : value[static_cast<std::size_t>(found - at.begin()) * n + i];
    }
};

Diagonals any_diagonals(Random &random, std::uint32_t n) {
    Diagonals m;
    for (std::uint32_t c = 0; c < n; ++c)
        if (random.chance(0.3)) m.at.push_back(c);
    for (std::size_t k = 0; k < m.at.size() * n; ++k)
        m.value.push_back(static_cast<double>(random.integer(-9, 9)));
    return m;
}

} // namespace

TEST_CASE("diagonals that go round, times others") {
    Random random(run::seed(0x64696167));
    HostQueue queue;
    queue.load(diagonal_product_kernel());
    int compared = 0;
    for (int trial = 0; trial < run::cases(30); ++trial) {
        const auto n = static_cast<std::uint32_t>(random.integer(1, 40));
        CAPTURE(n);
        const Diagonals a = any_diagonals(random, n), b = any_diagonals(random, n);
        const DiagonalPairs pairs = diagonal_pairs(n, a.at, b.at);
        if (pairs.diagonals.empty()) continue;
        const DeviceArray left = uploaded(queue, a.value), right = uploaded(queue, b.value),
                          first = uploaded(queue, pairs.first), list = uploaded(queue, pairs.pairs),
                          to = uploaded(queue, std::vector<double>(pairs.diagonals.size() * n));
        DiagonalProduct product{n,
                                static_cast<std::uint32_t>(pairs.diagonals.size()),
                                left.address(),
                                right.address(),
                                to.address(),
                                first.address(),
                                list.address()};
        const unsigned threads = queue.block_threads(16);
        const std::array<void *, 1> arguments{&product};
        queue.launch(diagonal_product_entry, (n + threads - 1) / threads * product.diagonals, threads,
                     arguments, 0);
        Diagonals c{pairs.diagonals, std::vector<double>(pairs.diagonals.size() * n)};
        queue.copy_out(c.value.data(), to.address(), 8 * c.value.size());
        for (std::uint32_t i = 0; i < n; ++i)
            for (std::uint32_t j = 0; j < n; ++j) {
                double sum = 0;
                for (std::uint32_t k = 0; k < n; ++k) sum += a.entry(n, i, k) * b.entry(n, k, j);
                CHECK(c.entry(n, i, j) == sum);
                ++compared;
            }
    }
    CHECK(queue.is_whole());
    CHECK(compared > run::enough(3000));
}
