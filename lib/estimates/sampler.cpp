#include "lib/estimates/sampler.hpp"

#include "lib/base/aligned_doubles.hpp"
#include "lib/estimates/random_words.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {

void Sampler::draw(std::uint64_t seed, std::uint64_t number, std::span<double> samples) const {
    constexpr std::size_t lanes = walk_lanes, between_foldings = 32;
    const std::size_t size = static_cast<std::size_t>(rows_) * lanes;
    const AlignedDoubles left = aligned_doubles(std::max(size, lanes));
    WalkLanes walk;
    for (std::size_t first = 0; first < samples.size(); first += lanes) {
        RandomWords words(seed, number * at_once + first);
        for (auto &word : walk.random)
            for (std::uint64_t &x : word) x = words.next();
        walk.product.fill(1);
        walk.slack.fill(0);
        std::fill_n(left.get(), size, 1.0);
        for (std::size_t begin = 0; begin < steps_.size(); begin += between_foldings) {
            const std::size_t count = std::min(between_foldings, steps_.size() - begin);
            walk_matchings(std::span(steps_).subspan(begin, count), left.get(), walk);
            bool all_are_0 = true;
            for (std::size_t k = 0; k < lanes; ++k) {
                walk.product[k] *= std::exp(walk.slack[k]);
                walk.slack[k] = 0;
                all_are_0 = all_are_0 && walk.product[k] == 0;
            }
            if (all_are_0) break;
        }
        for (std::size_t k = 0; k < std::min(lanes, samples.size() - first); ++k)
            samples[first + k] = std::min(1.0, walk.product[k]);
    }
}

// On one thread, measured (docs/benchmarks.md).
double Sampler::seconds_of_chunk(const Potential &potential) {
    constexpr double of_entry = 0.45e-9, of_step = 3e-9;
    return static_cast<double>(at_once) * (of_entry * static_cast<double>(potential.entries()) +
                                           of_step * static_cast<double>(potential.n()));
}

} // namespace libperm
