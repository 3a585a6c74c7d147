// Complex numbers with bounds, of any size: what blocks with signs come to, and their products.
#pragma once

#include "lib/number/ball.hpp"

#include <complex>
#include <cstdint>

namespace libperm {

// A complex number and how far from the truth it can be, both times 2^exp2.
struct Disc {
    std::complex<double> middle;
    double radius = 0;
    std::int64_t exp2 = 0;
};

Disc operator*(const Disc &x, const Disc &y);
Disc disc_of(const Ball &x);
Disc disc_of(const WideBall &x);

// x over 2^exp2, as a double.
double as_double(const Scaled &x, std::int64_t exp2);

} // namespace libperm
