// ---- What a frontier state carries (lib/frontier_number.hpp) ----------------------------------------------
//
// `nonnegative` stands above. Entries >= 0: the value bounds its own error. Else the sum of the terms'
// absolute values stands beside it.

struct NonNegative {
    double value;
};
struct __align__(16) Signed {
    double value, absolute;
};

template <bool> struct NumberOf { typedef Signed Type; };
template <> struct NumberOf<true> { typedef NonNegative Type; };
typedef NumberOf<nonnegative>::Type Number;

__device__ __forceinline__ void add_product(NonNegative &sum, const double *coefficient, NonNegative x) {
    sum.value += coefficient[0] * x.value;
}
__device__ __forceinline__ void add_product(Signed &sum, const double *coefficient, Signed x) {
    sum.value += coefficient[0] * x.value;
    sum.absolute += coefficient[1] * x.absolute;
}
__device__ __forceinline__ Number zero() { return Number{}; }

__device__ __forceinline__ NonNegative operator+(NonNegative x, NonNegative y) { return {x.value + y.value}; }
__device__ __forceinline__ Signed operator+(Signed x, Signed y) {
    return {x.value + y.value, x.absolute + y.absolute};
}
// `copies` of a column are free: first the coefficient times their number.
__device__ __forceinline__ NonNegative product(const double *coefficient, double copies, NonNegative x) {
    return {coefficient[0] * copies * x.value};
}
__device__ __forceinline__ Signed product(const double *coefficient, double copies, Signed x) {
    return {coefficient[0] * copies * x.value, coefficient[1] * copies * x.absolute};
}

// How large and how small numbers are. The magnitude, and the smallest part that is not 0.
struct Extent {
    double largest = 0, smallest = infinity();

    __device__ __forceinline__ Extent() {}
    __device__ __forceinline__ Extent(double most, double least) : largest(most), smallest(least) {}

    __device__ __forceinline__ static double infinity() { return 1e308 * 10; }
    __device__ __forceinline__ void take(double magnitude, double least) {
        largest = largest < magnitude ? magnitude : largest;
        smallest = least != 0 && least < smallest ? least : smallest;
    }
    __device__ __forceinline__ void take(NonNegative x) { take(x.value, x.value); }
    __device__ __forceinline__ void take(Signed x) {
        take(x.absolute, x.value != 0 ? fabs(x.value) : x.absolute);
    }
    __device__ __forceinline__ void join(const Extent &x) {
        largest = largest < x.largest ? x.largest : largest;
        smallest = x.smallest < smallest ? x.smallest : smallest;
    }
};

// All threads of a block call it, 16 at least. Magnitudes' bits are ordered as they are, and no order of
// joining changes the result.
template <int most_threads>
__device__ __forceinline__ void add_extent(const Extent &mine, unsigned long long *extent) {
    __shared__ double largest[most_threads], smallest[most_threads];
    largest[threadIdx.x] = mine.largest;
    smallest[threadIdx.x] = mine.smallest;
    __syncthreads();
    constexpr unsigned few = 16;
    Extent some = mine;
    if (threadIdx.x < few)
        for (unsigned k = threadIdx.x + few; k < blockDim.x; k += few)
            some.join(Extent(largest[k], smallest[k]));
    __syncthreads();
    if (threadIdx.x < few) {
        largest[threadIdx.x] = some.largest;
        smallest[threadIdx.x] = some.smallest;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (unsigned k = 1; k < few; ++k) some.join(Extent(largest[k], smallest[k]));
    const auto most = static_cast<unsigned long long>(__double_as_longlong(some.largest)),
               least = static_cast<unsigned long long>(__double_as_longlong(some.smallest));
    const volatile unsigned long long *now = extent; // most blocks change nothing
    if (most > now[0]) atomicMax(extent, most);
    if (least < now[1]) atomicMin(extent + 1, least);
}
