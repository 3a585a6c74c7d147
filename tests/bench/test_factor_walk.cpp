// Vectors through an operator's rows on a device that the host plays: the sums of residues.
#include "bench/families.hpp"
#include "bench/kernels/factor_walk.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/run.hpp"
#include "tests/support/uploaded.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

using namespace bench;
using namespace libperm;
using perm::families::Random;

TEST_CASE("vectors through a level of ones") {
    Random random(run::seed(0x6c6f6f70));
    HostQueue queue;
    queue.load(factor_walk_kernels());
    constexpr std::int64_t prime = 140737488355213; // below 2^47
    int others = 0;
    for (int trial = 0; trial < run::cases(24); ++trial) {
        const auto states = static_cast<std::uint32_t>(random.integer(1, 20)),
                   sources = static_cast<std::uint32_t>(random.integer(1, 20)),
                   lanes = static_cast<std::uint32_t>(32 * random.integer(1, 6));
        std::vector<std::uint32_t> first{0}, source;
        for (std::uint32_t s = 0; s < states; ++s) {
            for (std::int64_t k = random.integer(0, 70); k > 0; --k)
                source.push_back(static_cast<std::uint32_t>(random.integer(0, sources - 1)));
            first.push_back(static_cast<std::uint32_t>(source.size()));
        }
        std::vector<double> x(std::size_t{sources} * lanes), y(std::size_t{states} * lanes);
        for (double &number : x) number = std::floor((random.uniform() - 0.5) * static_cast<double>(prime));
        const DeviceArray from = uploaded(queue, x), to = uploaded(queue, y), begins = uploaded(queue, first),
                          takes = uploaded(queue, source);
        FactorWalk level{
            from.address(), to.address(), begins.address(),           takes.address(),
            states,         lanes,        static_cast<double>(prime), 1 / static_cast<double>(prime)};
        const std::array<void *, 1> arguments{&level};
        const unsigned threads = queue.block_threads(walk_threads), warps = threads / walk_warp,
                       items =
                           states * ((lanes + walk_warp * walk_together - 1) / (walk_warp * walk_together));
        queue.launch(factor_walk_entry, (items + warps - 1) / warps, threads, arguments, 0);
        queue.copy_out(y.data(), to.address(), 8 * y.size());
        for (std::uint32_t s = 0; s < states; ++s)
            for (std::uint32_t l = 0; l < lanes; ++l) {
                std::int64_t sum = 0;
                for (std::uint32_t k = first[s]; k < first[s + 1]; ++k)
                    sum = (sum + static_cast<std::int64_t>(x[std::size_t{source[k]} * lanes + l])) % prime;
                const auto found = static_cast<std::int64_t>(y[std::size_t{s} * lanes + l]);
                CHECK((sum - found) % prime == 0);
                CHECK(std::abs(found) <= prime / 2 + 1);
                others += found != 0;
            }
    }
    CHECK(queue.is_whole());
    CHECK(others > run::enough(1000));
}
