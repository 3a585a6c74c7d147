// With this before it a kernel's text is C++ for the host. One thread runs at a time, played by
// tests/support/host_kernel.cpp. No standard header: the compiler is done in 0.1 s.
#pragma once

#define __global__
#define __device__
#define __shared__ static
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define SHIM_EXPORT extern "C" __attribute__((visibility("default")))

extern "C" double fabs(double);
extern "C" double fmax(double, double);
extern "C" void *memcpy(void *, const void *, unsigned long);
extern "C" double fma(double, double, double);
inline int __ffs(int i) { return __builtin_ffs(i); }
inline int __ffsll(long long i) { return __builtin_ffsll(i); }
inline unsigned long long atomicAdd(unsigned long long *to, unsigned long long x) {
    const unsigned long long before = *to;
    *to += x;
    return before;
}
inline unsigned long long atomicMax(unsigned long long *to, unsigned long long x) {
    const unsigned long long before = *to;
    if (x > before) *to = x;
    return before;
}
inline unsigned long long atomicMin(unsigned long long *to, unsigned long long x) {
    const unsigned long long before = *to;
    if (x < before) *to = x;
    return before;
}
inline unsigned atomicAdd(unsigned *to, unsigned x) {
    const unsigned before = *to;
    *to += x;
    return before;
}
inline unsigned atomicMax(unsigned *to, unsigned x) {
    const unsigned before = *to;
    if (x > before) *to = x;
    return before;
}
inline unsigned atomicMin(unsigned *to, unsigned x) {
    const unsigned before = *to;
    if (x < before) *to = x;
    return before;
}
inline void __threadfence() {}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
template <class T> T __ldcs(const T *p) { return *p; }
inline unsigned atomicOr(unsigned *to, unsigned x) {
    const unsigned before = *to;
    *to |= x;
    return before;
}
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline long long __double_as_longlong(double x) {
    long long bits;
    __builtin_memcpy(&bits, &x, 8);
    return bits;
}

inline double __longlong_as_double(long long bits) {
    double x;
    __builtin_memcpy(&x, &bits, 8);
    return x;
}

inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline double __hiloint2double(int hi, int lo) {
    return __longlong_as_double(static_cast<long long>(static_cast<unsigned long long>(hi) << 32) |
                                static_cast<unsigned>(lo));
}
inline float __int_as_float(int bits) {
    float x;
    __builtin_memcpy(&x, &bits, 4);
    return x;
}
inline int __float_as_int(float x) {
    int bits;
    __builtin_memcpy(&bits, &x, 4);
    return bits;
}
extern "C" float fabsf(float);
extern "C" float fminf(float, float);

namespace shim {

struct Index {
    unsigned x;
};

// Until every thread of the block waits; returns when it is this one's turn again.
void (*wait)() = nullptr;

constexpr unsigned long shared_bytes = 1 << 16; // of a block's dynamic shared memory, at most

template <unsigned... I> struct Places {};
template <unsigned N, unsigned... I> struct PlacesTo : PlacesTo<N - 1, N - 1, I...> {};
template <unsigned... I> struct PlacesTo<0, I...> { using Type = Places<I...>; };
template <class... P, unsigned... I>
void call_at(void (*kernel)(P...), void *const *parameters, Places<I...>) {
    kernel(*static_cast<P *>(parameters[I])...);
}
// Parameters as cuLaunchKernel takes them.
template <class... P> void call(void (*kernel)(P...), void *const *parameters) {
    call_at(kernel, parameters, typename PlacesTo<sizeof...(P)>::Type());
}

} // namespace shim

static shim::Index threadIdx, blockIdx, blockDim, gridDim;

inline void __syncthreads() {
    const shim::Index mine = threadIdx;
    shim::wait();
    threadIdx = mine;
}

// All threads of the block do, for a warp's do too.
inline void __syncwarp() { __syncthreads(); }

// A warp's, by way of memory: all threads of the block do it.
inline double __shfl_xor_sync(unsigned, double x, int other) {
    static double of_thread[1024];
    of_thread[threadIdx.x] = x;
    __syncthreads();
    const double y = of_thread[threadIdx.x ^ static_cast<unsigned>(other)];
    __syncthreads();
    return y;
}

inline double __shfl_sync(unsigned, double x, int lane) {
    static double of_thread[1024];
    of_thread[threadIdx.x] = x;
    __syncthreads();
    const double y = of_thread[threadIdx.x / 32 * 32 + static_cast<unsigned>(lane)];
    __syncthreads();
    return y;
}

template <class T> T __shfl_up_sync(unsigned, T x, unsigned by) {
    static T of_thread[1024];
    of_thread[threadIdx.x] = x;
    __syncthreads();
    const T y = threadIdx.x % 32 < by ? x : of_thread[threadIdx.x - by];
    __syncthreads();
    return y;
}

inline unsigned __ballot_sync(unsigned, int yes) {
    static bool of_thread[1024];
    of_thread[threadIdx.x] = yes != 0;
    __syncthreads();
    unsigned votes = 0;
    for (unsigned lane = 0; lane < 32 && threadIdx.x / 32 * 32 + lane < blockDim.x; ++lane)
        votes |= static_cast<unsigned>(of_thread[threadIdx.x / 32 * 32 + lane]) << lane;
    __syncthreads();
    return votes;
}

SHIM_EXPORT void shim_place(unsigned block, unsigned thread, unsigned blocks, unsigned threads) {
    blockIdx.x = block;
    threadIdx.x = thread;
    gridDim.x = blocks;
    blockDim.x = threads;
}

SHIM_EXPORT void shim_wait_by(void (*wait)()) { shim::wait = wait; }
