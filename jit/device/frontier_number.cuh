// ---- What a frontier state carries (lib/number/state_number.hpp)
// ----------------------------------------------
//
// `Arithmetic` (device/number.cuh) and `bounds_itself` stand above. The value of entries >= 0 bounds its own
// error, and of residues there is nothing to be bounded. Else the sum of the terms' absolute values stands
// beside it. An entry's coefficient has `stride` doubles: its parts, its magnitude.

template <class A, bool> struct alignas(A::parts == 1 ? 16 : 8) NumberOf {
    typename A::Number value;
    double absolute;
};
template <class A> struct alignas(A::parts == 2 ? 16 : 8) NumberOf<A, true> { typename A::Number value; };
typedef NumberOf<Arithmetic, bounds_itself> Number;

constexpr int stride = Arithmetic::parts + 1;

// Makes residues modulo `prime`.
template <class A> struct Made {
    __device__ __forceinline__ static A by(double, double) { return A(); }
};
template <class D> struct Made<Modular<D>> {
    __device__ __forceinline__ static Modular<D> by(double prime, double inverse) { return {prime, inverse}; }
};
__device__ __forceinline__ Arithmetic arithmetic_of(double prime, double inverse) {
    return Made<Arithmetic>::by(prime, inverse);
}

__device__ __forceinline__ Number zero() { return Number{}; }
__device__ __forceinline__ Arithmetic::Number value_of(const double *coefficient) {
    return *reinterpret_cast<const Arithmetic::Number *>(coefficient);
}

template <class A>
__device__ __forceinline__ void add_product(const A &a, NumberOf<A, true> &sum, const double *coefficient,
                                            const NumberOf<A, true> &x) {
    sum.value = a.add(sum.value, a.multiply(value_of(coefficient), x.value));
}
template <class A>
__device__ __forceinline__ void add_product(const A &a, NumberOf<A, false> &sum, const double *coefficient,
                                            const NumberOf<A, false> &x) {
    sum.value = a.add(sum.value, a.multiply(value_of(coefficient), x.value));
    sum.absolute += coefficient[A::parts] * x.absolute;
}
// Residues are reduced once for many terms: 28 of them and another are below 16 p < 2^51.
template <class D>
__device__ __forceinline__ void add_product(const Modular<D> &a, NumberOf<Modular<D>, true> &sum,
                                            const double *coefficient, const NumberOf<Modular<D>, true> &x) {
    sum.value += a.multiply(value_of(coefficient), x.value);
}
template <class A, bool b> __device__ __forceinline__ void reduce(const A &, NumberOf<A, b> &) {}
template <class D>
__device__ __forceinline__ void reduce(const Modular<D> &a, NumberOf<Modular<D>, true> &x) {
    x.value = a.reduce(x.value);
}

template <class A>
__device__ __forceinline__ NumberOf<A, true> sum_of(const A &a, const NumberOf<A, true> &x,
                                                    const NumberOf<A, true> &y) {
    return {a.add(x.value, y.value)};
}
template <class A>
__device__ __forceinline__ NumberOf<A, false> sum_of(const A &a, const NumberOf<A, false> &x,
                                                     const NumberOf<A, false> &y) {
    return {a.add(x.value, y.value), x.absolute + y.absolute};
}

template <class A>
__device__ __forceinline__ NumberOf<A, true> product(const A &a, const double *coefficient,
                                                     const NumberOf<A, true> &x) {
    return {a.multiply(value_of(coefficient), x.value)};
}
template <class A>
__device__ __forceinline__ NumberOf<A, false> product(const A &a, const double *coefficient,
                                                      const NumberOf<A, false> &x) {
    return {a.multiply(value_of(coefficient), x.value), coefficient[A::parts] * x.absolute};
}
// `copies` of a column are free: first the coefficient times their number.
template <class A>
__device__ __forceinline__ NumberOf<A, true> product(const A &a, const double *coefficient, double copies,
                                                     const NumberOf<A, true> &x) {
    return {a.multiply(a.multiply(value_of(coefficient), a.number(copies)), x.value)};
}
template <class A>
__device__ __forceinline__ NumberOf<A, false> product(const A &a, const double *coefficient, double copies,
                                                      const NumberOf<A, false> &x) {
    return {a.multiply(a.multiply(value_of(coefficient), a.number(copies)), x.value),
            coefficient[A::parts] * copies * x.absolute};
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
