// Factorials and binomial coefficients.
#pragma once

#include "preprocess/index.hpp"

#include <cstddef>
#include <cstdint>
#include <math.h> // lgamma_r is of POSIX, not of <cmath>

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

// ln n!, by any number of threads: std::lgamma writes a sign where all of them can read it.

inline double log_factorial(double n) {
    int sign = 0;
    return ::lgamma_r(n + 1, &sign);
}

} // namespace libperm
