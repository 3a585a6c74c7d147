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
extern "C" double fma(double, double, double);
inline int __ffsll(long long i) { return __builtin_ffsll(i); }
inline unsigned long long atomicAdd(unsigned long long *to, unsigned long long x) {
    const unsigned long long before = *to;
    *to += x;
    return before;
}

namespace shim {

struct Index {
    unsigned x;
};

// Until every thread of the block waits; returns when it is this one's turn again.
void (*wait)() = nullptr;

constexpr unsigned long shared_bytes = 1 << 16; // of a block's dynamic shared memory, at most

// Parameters as cuLaunchKernel takes them.
template <class A, class B, class C, class D> void call(void (*kernel)(A, B, C, D), void *const *p) {
    kernel(*static_cast<A *>(p[0]), *static_cast<B *>(p[1]), *static_cast<C *>(p[2]),
           *static_cast<D *>(p[3]));
}
template <class A, class B, class C, class D, class E, class F>
void call(void (*kernel)(A, B, C, D, E, F), void *const *p) {
    kernel(*static_cast<A *>(p[0]), *static_cast<B *>(p[1]), *static_cast<C *>(p[2]), *static_cast<D *>(p[3]),
           *static_cast<E *>(p[4]), *static_cast<F *>(p[5]));
}

} // namespace shim

static shim::Index threadIdx, blockIdx, blockDim, gridDim;

inline void __syncthreads() {
    const shim::Index mine = threadIdx;
    shim::wait();
    threadIdx = mine;
}

SHIM_EXPORT void shim_place(unsigned block, unsigned thread, unsigned blocks, unsigned threads) {
    blockIdx.x = block;
    threadIdx.x = thread;
    gridDim.x = blocks;
    blockDim.x = threads;
}

SHIM_EXPORT void shim_wait_by(void (*wait)()) { shim::wait = wait; }
