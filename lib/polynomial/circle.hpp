// Cauchy's formula: the coefficients of a polynomial from its values at the N-th roots of unity, times a
// radius r = 2^e,
//
//     c_k = r^-k / N  sum_j P(r w^j) w^(-j k),   w = exp(2 pi i / N),   N > degree.
#pragma once

#include "lib/number/ball.hpp"
#include "preprocess/poll.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

class Circle {
  public:
    // real: P(conj x) = conj P(x), so that half of the points are enough.
    Circle(std::size_t points, std::int64_t exp2, bool real, const Poll &poll);

    // Of the first so many points.
    static std::size_t values_at(std::size_t points, bool real) { return real ? points / 2 + 1 : points; }
    std::size_t values() const { return values_at(points_, real_); }
    std::int64_t exp2() const { return exp2_; }

    // Of w^j, to 2^-52 of themselves.
    double cosine(std::size_t j) const;
    double sine(std::size_t j) const;
    // w^j, each part within 2^-128 of it.
    Gaussian root(std::size_t j) const;

    // All N of them from values(), each of which is within its error of P.
    std::vector<WideBall> coefficients(const std::vector<WideBall> &values, const Poll &poll) const;

  private:
    // Times 2^bits, next to the true ones.
    static constexpr unsigned long bits = 256;
    std::vector<mpz_class> cosines_, sines_;
    std::size_t points_;
    std::int64_t exp2_;
    bool real_;
};

} // namespace libperm
