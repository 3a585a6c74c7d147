// Samples and what bets need to know of them: on a device that the host plays with the bits of the processor;
// and the arithmetic that both share.
#include "jit/compile/nvrtc.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/kernel/matchings.hpp"
#include "jit/lanes/matching_walk.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/base/error.hpp"
#include "lib/estimates/nonnegative.hpp"
#include "lib/run/gpu_device.hpp"
#include "lib/samples/walk_sampler.hpp"
#include "tests/support/dense_logs.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/nvrtc_target.hpp"
#include "tests/support/ptxas.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

using namespace libperm;
using perm::families::Random;

namespace {

constexpr std::size_t chunk = Sampler::chunk_samples;

std::vector<std::uint64_t> bits(std::span<const double> x) {
    std::vector<std::uint64_t> bits;
    for (const double one : x) bits.push_back(std::bit_cast<std::uint64_t>(one));
    return bits;
}

std::vector<double> samples_here(const Potential &potential, std::uint64_t seed, std::uint64_t first,
                                 std::uint64_t count) {
    const Sampler sampler(potential);
    std::vector<double> samples(count * chunk);
    for (std::uint64_t k = 0; k < count; ++k)
        sampler.draw(seed, first + k, std::span(samples).subspan(k * chunk, chunk));
    return samples;
}

// Such that some columns have more entries than partial sums are kept of, and rows take several words.
Dense any_matrix(int trial, Random &random) {
    if (trial % 3 > 0) return random_dense(random.integer(1, 40), random);
    const std::int64_t n = random.integer(50, 100), in_row = random.integer(2, 8);
    Dense a(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n), 0.0));
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i][i] = 1;
        for (std::int64_t k = 1; k < in_row; ++k)
            a[i][static_cast<std::size_t>(random.integer(0, n - 1))] = 1;
    }
    return a;
}

// What the processor draws.
std::vector<double> check_bits(DeviceQueue &queue, const Potential &potential, std::uint64_t seed,
                               std::uint64_t first, std::uint64_t count) {
    std::vector<double> here = samples_here(potential, seed, first, count), there(here.size());
    SamplerOnDevice sampler(queue, potential);
    sampler.draw(seed, first, count, there);
    CHECK(bits(there) == bits(here));
    const std::vector<double> bets{-0.98, -0.3, 1e-9, 0.7, 1e5, 1e37};
    const std::size_t doubles = tally_doubles(bets.size());
    std::vector<double> told(count * doubles), expected(count * doubles);
    sampler.tally(seed, first, count, bets, told);
    for (std::uint64_t k = 0; k < count; ++k)
        tally_bets(std::span(here).subspan(k * chunk, chunk), bets, expected.data() + k * doubles);
    CHECK(bits(told) == bits(expected));
    return here;
}

} // namespace

TEST_CASE("samples and tallies on a device have the bits of the processor") {
    Random random(run::seed(0x77616c6b));
    int compared = 0, zeros = 0, others = 0;
    for (int trial = 0; trial < run::cases(24); ++trial) {
        CAPTURE(trial);
        HostQueue queue;
        queue.device.block_threads = trial % 2 == 0 ? 64 : 16;
        const Potential potential(log_matrix(any_matrix(trial, random)));
        const std::uint64_t seed = random.bits(), first = trial % 4 == 3 ? random.bits() >> 12 : trial,
                            count = 1 + trial % 2;
        std::vector<double> here;
        try {
            here = check_bits(queue, potential, seed, first, count);
        } catch (const JitError &error) {
            REQUIRE(error.failure() == JitFailure::unavailable); // no compiler: skipped
            return;
        }
        CHECK(queue.is_whole());
        ++compared;
        const auto nothing = std::count(here.begin(), here.end(), 0.0);
        zeros += nothing > 0;
        others += nothing < std::ssize(here);
    }
    CHECK(compared == run::cases(24));
    CHECK(zeros > run::enough(4));
    CHECK(others > run::enough(12));
}

TEST_CASE("estimates with devices have the bits of the processor, also where these fail") {
    Random random(run::seed(0x657374));
    int compared = 0;
    for (int trial = 0; trial < run::cases(8); ++trial)
        for (const auto method : {EstimateMethod::nesting, EstimateMethod::rejection}) {
            CAPTURE(trial);
            BlockEstimate estimate(log_matrix(random_dense(random.integer(8, 14), random)), random.bits());
            estimate.aim(0.2, 0.1, method);
            const std::int64_t most = trial % 2 == 0 ? 0 : 5000;
            const SamplePieces pieces = estimate.pieces(most);
            const ShareFound here = estimate.run(pieces, nullptr);
            HostQueue one, other;
            one.device.launches_left = other.device.launches_left = trial % 4 == 3 ? 3 : 1 << 30;
            SampleDevices devices(DeviceQueues([&] {
                                      return std::vector<DeviceQueue *>{&one, &other};
                                  }),
                                  false);
            const ShareFound there = estimate.run(pieces, &devices);
            if (one.launches() + other.launches() == 0) return; // no compiler: skipped
            CHECK(bits({{there.mean, there.interval.lower, there.interval.upper}}) ==
                  bits({{here.mean, here.interval.lower, here.interval.upper}}));
            CHECK(there.samples == here.samples);
            CHECK(there.accepted == here.accepted);
            ++compared;
        }
    CHECK(compared == 2 * run::cases(8));
}

TEST_CASE("a device that was named and fails is an error") {
    Random random(run::seed(0x6661696c));
    const Potential potential(log_matrix(any_matrix(1, random)));
    HostQueue queue;
    queue.device.launches_left = 0;
    SampleDevices devices(queue, true);
    std::vector<double> samples(chunk);
    CHECK_THROWS_AS((void)devices.draw(potential, 1, 0, samples), Error);
}

TEST_CASE("rows that a device's shared memory does not keep") {
    Random random(run::seed(0x726f7773));
    const Potential potential(log_matrix(any_matrix(0, random)));
    HostQueue queue;
    queue.device.warp = 16;
    queue.device.shared_bytes = draw_shared_bytes(potential.n(), 16);
    std::vector<double> samples(chunk);
    try {
        SamplerOnDevice(queue, potential).draw(1, 0, 1, samples);
    } catch (const JitError &error) {
        if (error.failure() == JitFailure::unavailable && queue.launches() == 0) return; // no compiler
        throw;
    }
    CHECK(bits(samples) == bits(samples_here(potential, 1, 0, 1)));
    --queue.device.shared_bytes;
    CHECK_THROWS_AS(SamplerOnDevice(queue, potential), JitError);
}

TEST_CASE("exponentials in plain operations") {
    Random random(run::seed(0x657870));
    double most = 0;
    int compared = 0;
    const auto compare = [&](double x) {
        const double truth = std::exp(x), found = walk_value::exponential(x);
        most = std::max(most, std::fabs(found - truth) / truth);
        ++compared;
    };
    for (int k = 0; k < run::cases(100000); ++k) compare(random.uniform() * 740 - 708);
    for (int k = 0; k < run::cases(100000); ++k) compare((random.uniform() - 0.5) * 4);
    CHECK(most < 0x1p-51);
    CHECK(walk_value::exponential(0) == 1);
    CHECK(walk_value::exponential(-708.5) == 0);
    CHECK(walk_value::exponential(-1e300) == 0);
    CHECK(compared > run::enough(1000));
}

TEST_CASE("tallies are the sums of logarithms") {
    Random random(run::seed(0x626574));
    for (int trial = 0; trial < run::cases(20); ++trial) {
        CAPTURE(trial);
        const double scale = std::ldexp(1.0, -static_cast<int>(random.integer(0, 1000)));
        std::vector<double> samples(tally_samples);
        for (double &x : samples) x = random.integer(0, 3) == 0 ? 0 : random.uniform() * scale;
        samples.back() = trial % 2; // all others may be tiny
        const std::vector<double> bets{-0.98, -0.3, std::min(1 / scale, 1e37), 1e-3};
        std::vector<double> told(tally_doubles(bets.size()));
        tally_bets(samples, bets, told.data());
        CHECK(told[0] ==
              doctest::Approx(std::accumulate(samples.begin(), samples.end(), 0.0)).epsilon(1e-13));
        CHECK(told[1] == static_cast<double>(tally_samples) -
                             static_cast<double>(std::count(samples.begin(), samples.end(), 0.0)));
        for (std::size_t b = 0; b < bets.size(); ++b) {
            long double log = 0;
            for (const double x : samples) log += std::log1p(static_cast<long double>(bets[b]) * x);
            const double found = std::log(told[2 + 2 * b]) + told[3 + 2 * b] * std::numbers::ln2;
            CHECK(std::fabs(found - static_cast<double>(log)) < 1e-12 + 1e-15 * std::fabs(found));
        }
    }
}

TEST_CASE("NVRTC compiles the kernels of matchings without a spilled register") {
    const std::optional<std::string> target = nvrtc_target();
    if (!target) return;
    const KernelRecipe kernels = matching_walk_kernels();
    for (const PtxasReport &report : read_ptxas(compile(kernels.source(), *target, kernels.flags).log)) {
        CAPTURE(report.kernel);
        CHECK(report.spill_stores == 0);
        CHECK(report.registers <= 64);
    }
}

TEST_CASE("on a GPU: samples and tallies have the bits of the processor") {
    const GpuChoice choice = first_gpu();
    if (!choice.gpu) return run::skip("no GPU: " + choice.why_not);
    GpuQueue queue(choice.gpu, {});
    Random random(run::seed(0x67707561));
    for (int trial = 0; trial < run::cases(30); ++trial) {
        CAPTURE(trial);
        check_bits(queue, Potential(log_matrix(any_matrix(trial, random))), random.bits(),
                   random.bits() >> 12, 1 + random.bits() % 40);
    }
}
