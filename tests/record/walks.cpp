#include "tests/record/host.hpp"

#include "jit/lanes/matching_walk.hpp"
#include "lib/samples/walk_sampler.hpp"
#include "tests/record/played.hpp"
#include "tests/support/dense_logs.hpp"

using namespace libperm;
using perm::families::Random;

namespace {

// A few entries in each row of a larger matrix, so that its rows take several words.
Dense long_rows(std::int64_t n, Random &random) {
    Dense a(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n), 0.0));
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i][i] = 1;
        for (int k = 0; k < 4; ++k) a[i][static_cast<std::size_t>(random.integer(0, n - 1))] = 1;
    }
    return a;
}

std::string walks_text(HostQueue &queue, const Potential &potential, std::uint64_t first) {
    constexpr std::uint64_t seed = 71, chunks = 2;
    const std::vector<double> bets{-0.98, -0.3, 1e-9, 0.7, 1e5, 1e37};
    SamplerOnDevice sampler(queue, potential);
    std::vector<double> samples(chunks * Sampler::chunk_samples), told(chunks * tally_doubles(bets.size()));
    sampler.draw(seed, first, chunks, samples);
    sampler.tally(seed, first, chunks, bets, told);
    return fmt::format("first={} samples={} told={}", bits_of(samples.front()), digest_of(samples),
                       digest_of(told));
}

} // namespace

void record_walks(RecordLines &to) {
    HostQueue queue;
    for (const std::int64_t n : {1, 7, 20, 40, 80}) {
        Random random(static_cast<std::uint64_t>(n));
        const Potential potential(log_matrix(n < 50 ? random_dense(n, random) : long_rows(n, random)));
        for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1} << 40})
            record_on(to, fmt::format("walks/n{}/from{}", n, first), queue,
                      [&](HostQueue &q) { return walks_text(q, potential, first); });
    }
}
