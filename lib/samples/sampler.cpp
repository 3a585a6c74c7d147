#include "lib/samples/sampler.hpp"

#include "jit/lanes/walk_value.hpp"
#include "lib/base/aligned_doubles.hpp"
#include "lib/base/randomness.hpp"

#include <algorithm>

namespace libperm {

namespace {
constexpr std::size_t lanes = walk_lanes;

AlignedDoubles rows_left(std::int32_t rows) {
    return aligned_doubles(std::max(static_cast<std::size_t>(rows) * lanes, lanes));
}
} // namespace

void Sampler::begin(std::uint64_t seed, std::uint64_t sample, WalkLanes &walk, double *left) const {
    Randomness words(seed, sample);
    for (auto &word : walk.random)
        for (std::uint64_t &x : word) x = words.next();
    walk.product.fill(1);
    walk.slack.fill(0);
    std::fill_n(left, static_cast<std::size_t>(rows_) * lanes, 1.0);
}

void Sampler::draw(std::uint64_t seed, std::uint64_t number, std::span<double> samples) const {
    const AlignedDoubles left = rows_left(rows_);
    WalkLanes walk;
    for (std::size_t first = 0; first < samples.size(); first += lanes) {
        begin(seed, number * chunk_samples + first, walk, left.get());
        for (std::size_t begin = 0; begin < steps_.size(); begin += between_foldings) {
            const std::size_t count = std::min(between_foldings, steps_.size() - begin);
            walk_matchings(std::span(steps_).subspan(begin, count), left.get(), walk);
            bool all_are_0 = true;
            for (std::size_t k = 0; k < lanes; ++k) {
                walk.product[k] *= walk_value::exponential(walk.slack[k]);
                walk.slack[k] = 0;
                all_are_0 = all_are_0 && walk.product[k] == 0;
            }
            if (all_are_0) break;
        }
        for (std::size_t k = 0; k < std::min(lanes, samples.size() - first); ++k)
            samples[first + k] = std::min(1.0, walk.product[k]);
    }
}

std::vector<std::int32_t> Sampler::rows_of(std::uint64_t seed, std::uint64_t number,
                                           std::size_t sample) const {
    const AlignedDoubles left = rows_left(rows_);
    WalkLanes walk;
    const std::size_t lane = sample % lanes;
    begin(seed, number * chunk_samples + (sample - lane), walk, left.get());
    std::vector<std::int32_t> out;
    for (std::size_t t = 0; t < steps_.size(); ++t) {
        const WalkStep &step = steps_[t];
        const auto is_left = [&](std::int32_t row) {
            return left.get()[static_cast<std::size_t>(row) * lanes + lane];
        };
        std::vector<double> before;
        for (const std::int32_t row : step.rows) before.push_back(is_left(row));
        walk_matchings(std::span(steps_).subspan(t, 1), left.get(), walk);
        std::int32_t taken = -1;
        for (std::size_t k = 0; k < step.rows.size(); ++k)
            if (before[k] != is_left(step.rows[k])) taken = step.rows[k];
        out.push_back(taken);
    }
    return out;
}

// On one thread, measured (docs/benchmarks.md).
double Sampler::seconds_of_chunk(const Potential &potential) {
    constexpr double of_entry = 0.2e-9, of_step = 0.8e-9;
    return static_cast<double>(chunk_samples) * (of_entry * static_cast<double>(potential.entries()) +
                                                 of_step * static_cast<double>(potential.n()));
}

} // namespace libperm
