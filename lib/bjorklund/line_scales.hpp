// Powers of two for a graph's lines, so that none outweighs the others.
#pragma once

#include "lib/number/scaled.hpp"
#include "preprocess/pattern.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// Sums of walks of any length are bounded by norms that count all powers of r alike
// (jit/lanes/hafnian_sum.cpp). Of graphs with a larger spectral norm the high powers outweigh the one that is
// wanted, with a smaller one the low ones do: of ones and of random numbers, signed and complex, bounds are
// near their least here.
constexpr double best_spectral_norm = 1.5;

class LineScales {
  public:
    // `sizes` by entry. The lines that the graph lacks of `lines` have a loop of 1.
    LineScales(const Pattern &graph, const std::vector<Scaled> &sizes, std::int32_t lines);

    // By line, exponents s: the sizes of an edge times 2^(s_i + s_j) and of a loop times 2^s_i add up, at
    // each line, to about `sum`.
    const std::vector<std::int64_t> &with_sums(double sum);

  private:
    struct Edge {
        std::size_t other; // its own line: a loop
        Scaled size;
    };
    std::int64_t exponent_at(std::size_t line, double sum) const;

    std::vector<std::vector<Edge>> edges_; // by line
    std::vector<std::int64_t> scale_;
};

} // namespace libperm
