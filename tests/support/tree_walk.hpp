// jit/device/tree_walk.cuh as C++, to be included where all that it takes for granted is there.
#pragma GCC system_header // it has #pragma unroll

#define __device__
#define __forceinline__ inline
#define fma(a, b, c) ((a) * (b) + (c))
#include "jit/device/tree_walk.cuh"
#undef fma
#undef __forceinline__
#undef __device__
