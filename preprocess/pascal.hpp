// Subsets counted by Pascal's triangle: exactly below 2^53, and the same everywhere above, so that what is
// chosen by them is.
#pragma once

#include "preprocess/index.hpp"

#include <cstddef>
#include <cstdint>

namespace libperm {

class PascalTriangle {
  public:
    static constexpr std::int32_t most = 64;

    PascalTriangle() {
        for (std::size_t w = 0; w <= most; ++w)
            for (std::size_t k = 0; k <= w; ++k)
                c_[w][k] = k == 0 || k == w ? 1 : c_[w - 1][k - 1] + c_[w - 1][k];
    }
    double operator()(std::int32_t w, std::int32_t k) const { return k < 0 || k > w ? 0 : c_[at(w)][at(k)]; }

  private:
    double c_[most + 1][most + 1] = {};
};

// Of w <= PascalTriangle::most.
inline double binomial(std::int32_t w, std::int32_t k) {
    static const PascalTriangle triangle;
    return triangle(w, k);
}

} // namespace libperm
