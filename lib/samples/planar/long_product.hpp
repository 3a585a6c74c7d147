// Products of many numbers, with some 100 bits and an exponent that neither overflows nor underflows.
#pragma once

#include "lib/samples/planar/fields.hpp"

#include <cmath>
#include <cstdint>

namespace libperm {

class LongProduct {
  public:
    void multiply(TwoDoubles::Number x, std::int64_t exp2 = 0) {
        product_ = TwoDoubles::multiply(product_, x);
        int by = 0;
        std::frexp(product_.hi, &by);
        product_ = {std::ldexp(product_.hi, -by), std::ldexp(product_.lo, -by)};
        exp2_ += exp2 + by;
    }
    void multiply(const LongProduct &x) { multiply(x.product_, x.exp2_); }

    // |x / y - 1|, or more where that is beyond 1/2; not a number where one is none.
    friend double distance(const LongProduct &x, const LongProduct &y) {
        if (std::abs(x.exp2_ - y.exp2_) > 1) return 1;
        const double scale = std::ldexp(1.0, static_cast<int>(x.exp2_ - y.exp2_));
        const double less =
            TwoDoubles::subtract({x.product_.hi * scale, x.product_.lo * scale}, y.product_).hi;
        return std::fabs(less / y.product_.hi);
    }

  private:
    TwoDoubles::Number product_{1, 0};
    std::int64_t exp2_ = 0;
};

} // namespace libperm
