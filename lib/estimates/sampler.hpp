// Samples of numbers from [0, 1] whose mean is perm(A) over a bound of it.
#pragma once

#include "lib/estimates/potential.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

class Sampler {
  public:
    static constexpr std::size_t at_once = 2048;

    explicit Sampler(const Potential &potential) : rows_(potential.n()), steps_(potential.steps()) {}

    // Chunk `number` of `at_once` samples, always the same ones.
    void draw(std::uint64_t seed, std::uint64_t number, std::span<double> samples) const;

    static double seconds_of_chunk(const Potential &potential);

  private:
    std::int32_t rows_;
    std::vector<WalkStep> steps_;
};

} // namespace libperm
