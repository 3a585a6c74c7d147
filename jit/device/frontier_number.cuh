// ---- What a frontier state carries (lib/number/state_number.hpp) ----------------------------------------
//
// `Arithmetic` (device/number.cuh) and `bounds_itself` stand above. The value of entries >= 0 bounds its own
// error, and of residues there is nothing to be bounded. Else the sum of the terms' absolute values stands
// beside it. An entry's coefficient has `stride` doubles: its parts, its magnitude.

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;

template <class A, bool> struct alignas(A::parts == 1 ? 16 : 8) NumberOf {
    typename A::Number value;
    double absolute;
};
template <class A> struct alignas(A::parts == 2 ? 16 : 8) NumberOf<A, true> { typename A::Number value; };
typedef NumberOf<Arithmetic, bounds_itself> Number;

constexpr int stride = Arithmetic::parts + 1;

// `prime` is of residues.
template <class A = Arithmetic> __device__ __forceinline__ A arithmetic_of(double prime, double inverse) {
    if constexpr (A::bounded)
        return A();
    else
        return A{prime, inverse};
}

__device__ __forceinline__ Number zero() { return Number{}; }
__device__ __forceinline__ Arithmetic::Number value_of(const double *coefficient) {
    return *reinterpret_cast<const Arithmetic::Number *>(coefficient);
}

// Residues are reduced once for many terms: 28 of them and another are below 16 p < 2^51.
template <class N>
__device__ __forceinline__ void add_product(const Arithmetic &a, N &sum, const double *coefficient,
                                            const N &x) {
    const auto term = a.multiply(value_of(coefficient), x.value);
    if constexpr (Arithmetic::bounded)
        sum.value = a.add(sum.value, term);
    else
        sum.value += term;
    if constexpr (!bounds_itself) sum.absolute += coefficient[Arithmetic::parts] * x.absolute;
}
template <class A, class N> __device__ __forceinline__ void reduce(const A &a, N &x) {
    if constexpr (!A::bounded) x.value = a.reduce(x.value);
}

template <class N> __device__ __forceinline__ N sum_of(const Arithmetic &a, const N &x, const N &y) {
    N sum = x;
    sum.value = a.add(x.value, y.value);
    if constexpr (!bounds_itself) sum.absolute = x.absolute + y.absolute;
    return sum;
}

template <class N>
__device__ __forceinline__ N product(const Arithmetic &a, const double *coefficient, const N &x) {
    N result = x;
    result.value = a.multiply(value_of(coefficient), x.value);
    if constexpr (!bounds_itself) result.absolute = coefficient[Arithmetic::parts] * x.absolute;
    return result;
}
// `copies` of a column are free: first the coefficient times their number.
template <class N>
__device__ __forceinline__ N product(const Arithmetic &a, const double *coefficient, double copies,
                                     const N &x) {
    N result = x;
    result.value = a.multiply(a.multiply(value_of(coefficient), a.number(copies)), x.value);
    if constexpr (!bounds_itself) result.absolute = coefficient[Arithmetic::parts] * copies * x.absolute;
    return result;
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
    __device__ __forceinline__ void take(const NumberOf<Real<double>, true> &x) { take(x.value, x.value); }
    __device__ __forceinline__ void take(const NumberOf<Real<double>, false> &x) {
        take(x.absolute, x.value != 0 ? fabs(x.value) : x.absolute);
    }
    __device__ __forceinline__ void take(const NumberOf<DD<double>, true> &x) {
        take(fabs(x.value.hi), fabs(x.value.hi));
    }
    template <class A> __device__ __forceinline__ void take(const NumberOf<A, false> &x) {
        take(x.absolute, x.absolute);
    }
    __device__ __forceinline__ void take(const NumberOf<Modular<double>, true> &) {}
    __device__ __forceinline__ void join(const Extent &x) {
        largest = largest < x.largest ? x.largest : largest;
        smallest = x.smallest < smallest ? x.smallest : smallest;
    }
};

// All threads of a block call it, 16 at least. Magnitudes' bits are ordered as they are, and no order of
// joining changes the result.
template <int most_threads> __device__ __forceinline__ void add_extent(const Extent &mine, u64 *extent) {
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
    const auto most = static_cast<u64>(__double_as_longlong(some.largest)),
               least = static_cast<u64>(__double_as_longlong(some.smallest));
    const volatile u64 *now = extent; // most blocks change nothing
    if (most > now[0]) atomicMax(extent, most);
    if (least < now[1]) atomicMin(extent + 1, least);
}

// ---- Sets of slots in tables ----

constexpr int chunk_bits = 12; // of a set, or of its number, looked up at once
constexpr u16 no_place = 0xffff;

// `ranks`, among sets of their size: 2^chunk_bits lower halves; 13 for each upper half.
__device__ __forceinline__ u32 rank_of(const u32 *ranks, u32 set) {
    const u32 lower = set & ((1u << chunk_bits) - 1), upper = set >> chunk_bits;
    const u32 rank = ranks[lower];
    return upper == 0 ? rank : rank + ranks[(1u << chunk_bits) + upper * (chunk_bits + 1) + __popc(lower)];
}
