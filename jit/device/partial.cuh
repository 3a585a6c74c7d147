// ---- Sums of many terms -------------------------------------------------------------------------------
//
// The sum of some terms in an arithmetic of number.cuh; the absolute values are added up beside it. One text
// for kernels and host (jit/number/partial.hpp).
template <class A> struct PartialOf {
    typename A::Sum sum;
    double absolute;

    __device__ __forceinline__ void add(const A &f, typename A::Number part, double absolute_part) {
        sum = f.sum(sum, part);
        if constexpr (A::bounded) absolute += absolute_part;
    }
};

template <class A> __device__ __forceinline__ PartialOf<A> sum_of_nothing() { return {A::zero_sum(), 0}; }

template <class A>
__device__ __forceinline__ PartialOf<A> add_in_order(const A &f, const PartialOf<A> *partials,
                                                     unsigned long long count) {
    PartialOf<A> all = sum_of_nothing<A>();
    typename A::Number rest = A::number(0);
    for (unsigned long long k = 0; k < count; ++k) {
        all.add(f, A::lead(partials[k].sum), partials[k].absolute);
        rest = f.add(rest, A::rest(partials[k].sum));
    }
    all.sum = A::joined(A::lead(all.sum), f.add(A::rest(all.sum), rest));
    return all;
}
