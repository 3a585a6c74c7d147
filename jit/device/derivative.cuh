// ---- How large the products of all rows but one are at most --------------------------------------------
//
// From the least row sum of a group (jit/program/tree.hpp); jit/lanes/lanes-inl.hpp has the same on a
// CPU.

// min(|a|, |b|), rounded down to the high word: floats compare as the high words of doubles do.
__device__ __forceinline__ double least(double a, double b) {
    const float x = __int_as_float(__double2hiint(a)), y = __int_as_float(__double2hiint(b));
    return __hiloint2double(__float_as_int(fminf(fabsf(x), fabsf(y))), 0);
}
// 16 / max(a, 2^-400), rounded up, of what least() gives: (1 + f) 2^e has (1 - f / 2) 2^-e, 1/8 more at most.
__device__ __forceinline__ double reciprocal(double a) {
    const unsigned high = __double2hiint(a), least_high = 0x26f00000;
    return __hiloint2double(0x80200000 - (high > least_high ? high : least_high), 0);
}
