// ---- Values of walks and products of many factors ------------------------------------------------------
//
// One text for the kernels and the CPU (jit/lanes/matching_walk.hpp), in plain operations: the same bits.

// exp(x) within two units in the last place, 0 below -708; x at most 700. Cody and Waite's reduction, and
// Taylor's series up to what counts for |r| <= log(2) / 2.
__device__ __forceinline__ double exponential(double x) {
    constexpr double of_log2 = 0x1.71547652b82fep0, to_integer = 0x1.8p52, log2_high = 0x1.62e42fefp-1,
                     log2_low = 0x1.473de6af278edp-34;
    if (!(x > -708)) return 0;
    const double shifted = x * of_log2 + to_integer, whole = shifted - to_integer;
    const double r = (x - whole * log2_high) - whole * log2_low;
    double sum = 1 / 6227020800.0;
    sum = sum * r + 1 / 479001600.0;
    sum = sum * r + 1 / 39916800.0;
    sum = sum * r + 1 / 3628800.0;
    sum = sum * r + 1 / 362880.0;
    sum = sum * r + 1 / 40320.0;
    sum = sum * r + 1 / 5040.0;
    sum = sum * r + 1 / 720.0;
    sum = sum * r + 1 / 120.0;
    sum = sum * r + 1 / 24.0;
    sum = sum * r + 1 / 6.0;
    sum = sum * r + 0.5;
    sum = sum * r + 1;
    sum = sum * r + 1;
    const long long exponent = __double_as_longlong(shifted) - __double_as_longlong(to_integer);
    return sum * __longlong_as_double((exponent + 1023) << 52);
}

// mantissa 2^exp2, 1 <= mantissa < 2.
struct LongProduct {
    double mantissa;
    long long exp2;
};

// x > 0, not below 2^-1022.
__device__ __forceinline__ LongProduct long_product(double x, long long exp2) {
    constexpr long long fraction = (1LL << 52) - 1, one = 1023LL << 52;
    const long long bits = __double_as_longlong(x);
    return {__longlong_as_double((bits & fraction) | one), exp2 + (bits >> 52) - 1023};
}
__device__ __forceinline__ LongProduct multiplied(const LongProduct &x, const LongProduct &y) {
    return long_product(x.mantissa * y.mantissa, x.exp2 + y.exp2);
}
