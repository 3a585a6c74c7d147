// ---- The terms of one block, with their signs ---------------------------------------------------------

// Added as they are.
template <class A> struct PlainTerms {
    typedef typename A::Number Number;
    const A &f;
    Number sum;
    double absolute;

    __device__ __forceinline__ PlainTerms(const A &arithmetic, Number first)
        : f(arithmetic), sum(first), absolute(f.magnitude(first)) {}
    __device__ __forceinline__ void plus(Number term) { put(f.add(sum, term), term); }
    __device__ __forceinline__ void minus(Number term) { put(f.subtract(sum, term), term); }
    __device__ __forceinline__ void put(Number next, Number term) {
        sum = next;
        if constexpr (A::bounded) absolute += f.magnitude(term);
    }
    __device__ __forceinline__ void add_to(PartialOf<A> &sums) const { sums.add(f, sum, absolute); }
};

// Of doubles, by Kahan's compensated sum (Higham, Accuracy and Stability, Algorithm 4.2): `late` is what the
// sum lacks.
template <class A> struct KahanTerms {
    const A &f;
    double sum, late, absolute;

    __device__ __forceinline__ KahanTerms(const A &arithmetic, double first)
        : f(arithmetic), sum(first), late(0), absolute(fabs(first)) {}
    __device__ __forceinline__ void plus(double term) {
        const double part = term + late, next = sum + part;
        late = (sum - next) + part;
        sum = next;
        absolute += fabs(term);
    }
    __device__ __forceinline__ void minus(double term) { plus(-term); }
    __device__ __forceinline__ void add_to(PartialOf<A> &sums) const { sums.add(f, sum, absolute); }
};

// Of doubles, to twice the precision, as are the sums of blocks.
template <class A> struct TwofoldTerms {
    const A &f;
    PartialOf<A> own;

    __device__ __forceinline__ TwofoldTerms(const A &arithmetic, double first)
        : f(arithmetic), own{{first, 0}, fabs(first)} {}
    __device__ __forceinline__ void plus(double term) { own.add(f, term, fabs(term)); }
    __device__ __forceinline__ void minus(double term) { plus(-term); }
    __device__ __forceinline__ void add_to(PartialOf<A> &sums) const {
        sums.add(f, own.sum.sum, own.absolute);
        sums.sum.error += own.sum.error;
    }
};
