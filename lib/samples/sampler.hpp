// Samples of numbers from [0, 1] whose mean is perm(A) over a bound of it.
#pragma once

#include "lib/bounds/potential.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

class Sampler {
  public:
    static constexpr std::size_t chunk_samples = 2048;

    explicit Sampler(const Potential &potential) : rows_(potential.n()), steps_(potential.steps()) {}

    // Chunk `number` of `chunk_samples` samples, always the same ones.
    void draw(std::uint64_t seed, std::uint64_t number, std::span<double> samples) const;

    // The way of one of them, which is not 0: the row that each step gave its column to.
    std::vector<std::int32_t> rows_of(std::uint64_t seed, std::uint64_t number, std::size_t sample) const;

    static double seconds_of_chunk(const Potential &potential);

  private:
    // Before the first step of the walks from `sample` on: which rows are left, and the random numbers.
    void begin(std::uint64_t seed, std::uint64_t sample, WalkLanes &walk, double *left) const;

    std::int32_t rows_;
    std::vector<WalkStep> steps_;
};

} // namespace libperm
