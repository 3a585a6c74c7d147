// States whose magnitudes lie further apart than a double reaches: each number has an exponent of its own.
//
// In a long matrix the states of one row can be products of entries in numbers that grow apart without end,
// as those of a ring do with what crosses its cut. Rows and columns scaled by powers of two do not help: what
// a cycle of entries comes to stays.
#pragma once

#include "lib/number/state_number.hpp"

#include <cmath>
#include <cstdint>

namespace libperm {

// number * 2^exp2; the magnitude of the number is in [2^-reach, 2^reach], or 0.
template <class N> struct Ranged {
    static constexpr int reach = 200;
    // What lies further below another number is cut off: less than 2^-500 of it.
    static constexpr std::int64_t far = 900;

    N number;
    std::int64_t exp2 = 0;

    static Ranged normalised(const N &number, std::int64_t exp2) {
        const double size = number.magnitude();
        if (size == 0) return {number, 0};
        if (size >= std::ldexp(1.0, -reach) && size <= std::ldexp(1.0, reach)) return {number, exp2};
        const int exponent = std::ilogb(size);
        return {times_power(number, -exponent), exp2 + exponent};
    }

    friend Ranged operator*(const Ranged &x, const Ranged &y) {
        return normalised(x.number * y.number, x.exp2 + y.exp2);
    }
    friend Ranged operator+(const Ranged &x, const Ranged &y) {
        if (x.number.magnitude() == 0) return y;
        if (y.number.magnitude() == 0) return x;
        const Ranged &high = x.exp2 >= y.exp2 ? x : y, &low = x.exp2 >= y.exp2 ? y : x;
        const std::int64_t apart = high.exp2 - low.exp2;
        if (apart == 0) return normalised(x.number + y.number, x.exp2);
        if (apart > far) return high;
        return normalised(high.number + times_power(low.number, -static_cast<int>(apart)), high.exp2);
    }
};

template <class N> struct RangedOperations {
    using Number = Ranged<N>;
    using Factor = Ranged<N>;

    static Number zero() { return {N::number(0), 0}; }
    static Number one() { return {N::number(1), 0}; }
    static Number add(const Number &x, const Number &y) { return x + y; }
    static Number multiply(const Factor &factor, const Number &x) { return factor * x; }
};

} // namespace libperm
