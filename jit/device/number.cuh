// ---- Numbers and their arithmetic ---------------------------------------------------------------------
//
// One text for the kernels and the CPU (jit/number/number.hpp): the same operations in the same order, so the
// same bits. D is a double, or on a CPU a vector of doubles for which fma(a, b, c) = a b + c, fnma(a, b, c) =
// c - a b (rounded once), fabs and fmax are defined; nothing else may be contracted.
//
// An arithmetic has Number, its operations, Row (a row sum, or an entry: `add` and `subtract` of two round
// nowhere on their grid), magnitude() >= |number| up to a few roundings (a double; none where there is
// nothing to be bounded), and Sum, to which terms are added: lead() and rest() of one make it again by
// joined(). docs/accuracy.md has the errors of each operation.

__device__ __forceinline__ double fnma(double a, double b, double c) { return fma(-a, b, c); }

// An unevaluated sum of two, about 106 bits (Dekker 1971).
template <class D> struct Twofold { D hi, lo; };

// a + b exactly: Knuth's 2Sum; Dekker's for |a| >= |b|.
template <class D> __device__ __forceinline__ Twofold<D> two_sum(D a, D b) {
    const D s = a + b, b_part = s - a;
    return {s, (a - (s - b_part)) + (b - b_part)};
}
template <class D> __device__ __forceinline__ Twofold<D> fast_two_sum(D a, D b) {
    const D s = a + b;
    return {s, b - (s - a)};
}

// Doubles. Each operation rounds once, by at most 2^-53 of its result.
template <class D> struct Real {
    typedef D Scalar;
    typedef D Number;
    typedef Number Row;
    static constexpr int parts = 1, row_parts = parts; // doubles in a number, in a row sum
    static constexpr bool bounded = true;              // by sums of magnitudes

    __device__ __forceinline__ static Number number(D x) { return x; }
    __device__ __forceinline__ static bool is_zero(Number a) { return a == 0; }
    __device__ __forceinline__ static Number add(Number a, Number b) { return a + b; }
    __device__ __forceinline__ static Number subtract(Number a, Number b) { return a - b; }
    __device__ __forceinline__ static Number multiply(Number a, Number b) { return a * b; }
    __device__ __forceinline__ static Number madd(Number a, Number b, Number c) { return fma(a, b, c); }
    __device__ __forceinline__ static Number nmadd(Number a, Number b, Number c) { return fnma(a, b, c); }
    __device__ __forceinline__ static Number add_signed(Number a, D sign, Number b) {
        return fma(sign, b, a);
    }
    __device__ __forceinline__ static Number negate(Number a) { return -a; }
    __device__ __forceinline__ static D magnitude(Number a) { return fabs(a); }

    // What `sum` cannot hold goes to `error`.
    struct Sum {
        D sum, error;
    };
    __device__ __forceinline__ static Sum zero_sum() { return {D(0), D(0)}; }
    __device__ __forceinline__ static Sum sum(Sum to, Number term) {
        const Twofold<D> s = two_sum(to.sum, term);
        return {s.hi, to.error + s.lo};
    }
    __device__ __forceinline__ static Number lead(Sum s) { return s.sum; }
    __device__ __forceinline__ static Number rest(Sum s) { return s.error; }
    __device__ __forceinline__ static Sum joined(Number lead, Number rest) { return {lead, rest}; }
    __device__ __forceinline__ static Sum opposite(Sum s) { return {-s.sum, -s.error}; }
    __device__ __forceinline__ static Number total(Sum s) { return s.sum + s.error; }
};

// Twice a double. An addition errs by at most 3 * 2^-106 of |a| + |b|, and not at all when a, b and their sum
// are multiples of 2^-105 below 1; a product by at most 6 * 2^-106 of itself (Joldes, Muller and Popescu, ACM
// TOMS 44 (2017): algorithm 5's sum and algorithm 11's product).
template <class D> struct DD {
    typedef D Scalar;
    typedef Twofold<D> Number;
    typedef Number Row;
    static constexpr int parts = 2, row_parts = parts;
    static constexpr bool bounded = true;

    __device__ __forceinline__ static Number number(D x) { return {x, D(0)}; }
    __device__ __forceinline__ static bool is_zero(Number a) { return a.hi == 0; }
    __device__ __forceinline__ static Number add(Number a, Number b) {
        const Number s = two_sum(a.hi, b.hi);
        return fast_two_sum(s.hi, s.lo + (a.lo + b.lo));
    }
    __device__ __forceinline__ static Number subtract(Number a, Number b) { return add(a, negate(b)); }
    __device__ __forceinline__ static Number multiply(Number a, Number b) {
        const D p = a.hi * b.hi;
        const D e = fma(a.lo, b.hi, fma(a.hi, b.lo, fma(a.hi, b.hi, -p)));
        return fast_two_sum(p, e);
    }
    __device__ __forceinline__ static Number madd(Number a, Number b, Number c) {
        return add(multiply(a, b), c);
    }
    __device__ __forceinline__ static Number nmadd(Number a, Number b, Number c) {
        return subtract(c, multiply(a, b));
    }
    __device__ __forceinline__ static Number add_signed(Number a, D sign, Number b) {
        return add(a, {sign * b.hi, sign * b.lo});
    }
    __device__ __forceinline__ static Number negate(Number a) { return {-a.hi, -a.lo}; }
    __device__ __forceinline__ static D magnitude(Number a) { return fabs(a.hi); }

    typedef Number Sum;
    __device__ __forceinline__ static Sum zero_sum() { return {D(0), D(0)}; }
    __device__ __forceinline__ static Sum sum(Sum to, Number term) { return add(to, term); }
    __device__ __forceinline__ static Number lead(Sum s) { return s; }
    __device__ __forceinline__ static Number rest(Sum) { return number(D(0)); }
    __device__ __forceinline__ static Sum joined(Number lead, Number) { return lead; }
    __device__ __forceinline__ static Sum opposite(Sum s) { return negate(s); }
    __device__ __forceinline__ static Number total(Sum s) { return s; }
};

// A row sum on two grids: hi and lo, which may be as large as a few units of hi's grid, each add up exactly.
template <class D> struct SplitRow { D hi, lo; };
template <class D>
__device__ __forceinline__ SplitRow<D> operator+(const SplitRow<D> &a, const SplitRow<D> &b) {
    return {a.hi + b.hi, a.lo + b.lo};
}
template <class D>
__device__ __forceinline__ SplitRow<D> operator-(const SplitRow<D> &a, const SplitRow<D> &b) {
    return {a.hi - b.hi, a.lo - b.lo};
}
template <class D> __device__ __forceinline__ D plus_signed(D a, D sign, D b) { return fma(sign, b, a); }
template <class D>
__device__ __forceinline__ SplitRow<D> plus_signed(const SplitRow<D> &a, D sign, const SplitRow<D> &b) {
    return {fma(sign, b.hi, a.hi), fma(sign, b.lo, a.lo)};
}

// A split row that a product takes rounded to a double.
template <class D> struct RoundedRow {
    D hi, lo;
    __device__ __forceinline__ operator D() const { return hi + lo; }
};

// Doubles of row sums that no double holds: one rounding more for each factor of a term.
template <class D> struct TwoGrids : Real<D> {
    typedef RoundedRow<D> Row;
    static constexpr int row_parts = 2;

    using Real<D>::add, Real<D>::subtract, Real<D>::add_signed;
    __device__ __forceinline__ static Row add(const Row &a, const Row &b) {
        return {a.hi + b.hi, a.lo + b.lo};
    }
    __device__ __forceinline__ static Row subtract(const Row &a, const Row &b) {
        return {a.hi - b.hi, a.lo - b.lo};
    }
    __device__ __forceinline__ static Row add_signed(const Row &a, D sign, const Row &b) {
        return {fma(sign, b.hi, a.hi), fma(sign, b.lo, a.lo)};
    }
};

// A double, as Real has it, and what its roundings have lost, to first order: the compensated product and sum
// of Ogita, Rump and Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005), never put together
// on the way. R: a row sum, exact: D or SplitRow<D>. After k operations hi + lo is within 2.2 (k + 1)^2
// 2^-106 of the sum of the terms' absolute values (docs/accuracy.md).
template <class D, class R = D> struct Compensated {
    typedef D Scalar;
    typedef R Row;
    struct Number {
        D hi, lo;
        Number() = default;
        __device__ __forceinline__ Number(D high) : hi(high), lo(D(0)) {}
        __device__ __forceinline__ Number(D high, D low) : hi(high), lo(low) {}
        __device__ __forceinline__ Number(Twofold<D> x) : hi(x.hi), lo(x.lo) {}
        // Exact, too, where hi is the smaller: then their sum is a double.
        __device__ __forceinline__ Number(SplitRow<D> x) : Number(fast_two_sum(x.hi, x.lo)) {}
    };
    static constexpr int parts = 2, row_parts = sizeof(R) / sizeof(D);
    static constexpr bool bounded = true;

    __device__ __forceinline__ static Row add(Row a, Row b) { return a + b; }
    __device__ __forceinline__ static Row subtract(Row a, Row b) { return a - b; }
    __device__ __forceinline__ static Row add_signed(Row a, D sign, Row b) { return plus_signed(a, sign, b); }

    __device__ __forceinline__ static Number number(D x) { return x; }
    __device__ __forceinline__ static bool is_zero(Number a) { return a.hi == 0 && a.lo == 0; }
    __device__ __forceinline__ static Number add(Number a, Number b) {
        const Twofold<D> s = two_sum(a.hi, b.hi);
        return {s.hi, s.lo + (a.lo + b.lo)};
    }
    __device__ __forceinline__ static Number subtract(Number a, Number b) { return add(a, negate(b)); }
    __device__ __forceinline__ static Number multiply(D a, D b) {
        const D p = a * b;
        return {p, fma(a, b, -p)};
    }
    __device__ __forceinline__ static Number multiply(Number a, D b) {
        const D p = a.hi * b;
        return {p, fma(a.lo, b, fma(a.hi, b, -p))};
    }
    __device__ __forceinline__ static Number multiply(D a, Number b) { return multiply(b, a); }
    __device__ __forceinline__ static Number multiply(Number a, Number b) {
        const D p = a.hi * b.hi;
        return {p, fma(a.lo, b.hi, fma(a.hi, b.lo, fma(a.hi, b.hi, -p)))};
    }
    template <class A, class B> __device__ __forceinline__ static Number madd(A a, B b, Number c) {
        return add(multiply(a, b), c);
    }
    template <class A, class B> __device__ __forceinline__ static Number nmadd(A a, B b, Number c) {
        return subtract(c, multiply(a, b));
    }
    __device__ __forceinline__ static Number negate(Number a) { return {-a.hi, -a.lo}; }
    __device__ __forceinline__ static D magnitude(Number a) { return fabs(a.hi); }

    typedef Twofold<D> Sum; // as Real's
    __device__ __forceinline__ static Sum zero_sum() { return {D(0), D(0)}; }
    __device__ __forceinline__ static Sum sum(Sum to, Number term) {
        const Twofold<D> s = two_sum(to.hi, term.hi);
        return {s.hi, to.lo + (s.lo + term.lo)};
    }
    __device__ __forceinline__ static Number lead(Sum s) { return s.hi; }
    __device__ __forceinline__ static Number rest(Sum s) { return s.lo; }
    __device__ __forceinline__ static Sum joined(Number lead, Number rest) { return {lead.hi, rest.hi}; }
    __device__ __forceinline__ static Sum opposite(Sum s) { return {-s.hi, -s.lo}; }
    __device__ __forceinline__ static Number total(Sum s) { return {s.hi, s.lo}; }
};

template <class P> struct ComplexOf {
    P re, im;
    ComplexOf() = default;
    __device__ __forceinline__ ComplexOf(P real, P imaginary) : re(real), im(imaginary) {}
    template <class Q> __device__ __forceinline__ ComplexOf(const ComplexOf<Q> &x) : re(x.re), im(x.im) {}
};

// Complex numbers over another arithmetic.
template <class Base> struct Complex {
    typedef typename Base::Scalar Scalar;
    typedef typename Base::Number Part;
    typedef ComplexOf<Part> Number;
    typedef ComplexOf<typename Base::Row> Row;
    static constexpr int parts = 2 * Base::parts, row_parts = 2 * Base::row_parts;
    static constexpr bool bounded = true;

    __device__ __forceinline__ static Number number(Scalar x) {
        return {Base::number(x), Base::number(Scalar(0))};
    }
    __device__ __forceinline__ static bool is_zero(Number a) {
        return Base::is_zero(a.re) && Base::is_zero(a.im);
    }
    // Adds numbers, and row sums.
    template <class P>
    __device__ __forceinline__ static ComplexOf<P> add(const ComplexOf<P> &a, const ComplexOf<P> &b) {
        return {Base::add(a.re, b.re), Base::add(a.im, b.im)};
    }
    template <class P>
    __device__ __forceinline__ static ComplexOf<P> subtract(const ComplexOf<P> &a, const ComplexOf<P> &b) {
        return {Base::subtract(a.re, b.re), Base::subtract(a.im, b.im)};
    }
    __device__ __forceinline__ static Number multiply(const Number &a, const Number &b) {
        return {Base::nmadd(a.im, b.im, Base::multiply(a.re, b.re)),
                Base::madd(a.im, b.re, Base::multiply(a.re, b.im))};
    }
    __device__ __forceinline__ static Number madd(const Number &a, const Number &b, const Number &c) {
        return {Base::nmadd(a.im, b.im, Base::madd(a.re, b.re, c.re)),
                Base::madd(a.im, b.re, Base::madd(a.re, b.im, c.im))};
    }
    __device__ __forceinline__ static Number nmadd(const Number &a, const Number &b, const Number &c) {
        return {Base::madd(a.im, b.im, Base::nmadd(a.re, b.re, c.re)),
                Base::nmadd(a.im, b.re, Base::nmadd(a.re, b.im, c.im))};
    }
    template <class P>
    __device__ __forceinline__ static ComplexOf<P> add_signed(const ComplexOf<P> &a, Scalar sign,
                                                              const ComplexOf<P> &b) {
        return {Base::add_signed(a.re, sign, b.re), Base::add_signed(a.im, sign, b.im)};
    }
    __device__ __forceinline__ static Number negate(Number a) {
        return {Base::negate(a.re), Base::negate(a.im)};
    }

    // |z| <= |re| + |im| <= sqrt(2) |z|.
    __device__ __forceinline__ static Scalar magnitude(Number a) {
        return Base::magnitude(a.re) + Base::magnitude(a.im);
    }

    struct Sum {
        typename Base::Sum re, im;
    };
    __device__ __forceinline__ static Sum zero_sum() { return {Base::zero_sum(), Base::zero_sum()}; }
    __device__ __forceinline__ static Sum sum(Sum to, Number term) {
        return {Base::sum(to.re, term.re), Base::sum(to.im, term.im)};
    }
    __device__ __forceinline__ static Number lead(Sum s) { return {Base::lead(s.re), Base::lead(s.im)}; }
    __device__ __forceinline__ static Number rest(Sum s) { return {Base::rest(s.re), Base::rest(s.im)}; }
    __device__ __forceinline__ static Sum joined(Number lead, Number rest) {
        return {Base::joined(lead.re, rest.re), Base::joined(lead.im, rest.im)};
    }
    __device__ __forceinline__ static Sum opposite(Sum s) {
        return {Base::opposite(s.re), Base::opposite(s.im)};
    }
    __device__ __forceinline__ static Number total(Sum s) { return {Base::total(s.re), Base::total(s.im)}; }
};

// Residues modulo a prime p < 2^47, whole numbers of absolute value at most 0.52 p, whichever of their class.
// A product of doubles below p is the sum of two doubles, h and l; q = h / p is a whole number to within 1/2
// + 2^-5, so h - q p is exact, and with l at most 0.52 p.
template <class D> struct Modular {
    typedef D Scalar;
    typedef D Number;
    typedef Number Row;
    static constexpr int parts = 1, row_parts = parts;
    static constexpr bool bounded = false;
    D p, inverse; // 1 / p

    __device__ __forceinline__ D quotient(D x) const { // x / p to the nearest whole number, |x| < 2^51 p
        const D magic(0x1.8p52);
        return fma(x, inverse, magic) - magic;
    }
    __device__ __forceinline__ D reduce(D x) const { return fnma(quotient(x), p, x); } // |x| < 2^53
    __device__ __forceinline__ static Number number(D x) { return x; }                 // |x| < p / 2
    __device__ __forceinline__ static bool is_zero(Number a) { return a == 0; }
    __device__ __forceinline__ Number add(Number a, Number b) const { return reduce(a + b); }
    __device__ __forceinline__ Number subtract(Number a, Number b) const { return reduce(a - b); }
    __device__ __forceinline__ Number multiply(Number a, Number b) const {
        const D h = a * b, l = fma(a, b, -h);
        return fnma(quotient(h), p, h) + l;
    }
    __device__ __forceinline__ Number madd(Number a, Number b, Number c) const {
        return add(c, multiply(a, b));
    }
    __device__ __forceinline__ Number nmadd(Number a, Number b, Number c) const {
        return subtract(c, multiply(a, b));
    }
    __device__ __forceinline__ Number add_signed(Number a, D sign, Number b) const {
        return reduce(fma(sign, b, a));
    }
    __device__ __forceinline__ static Number negate(Number a) { return -a; }
    __device__ __forceinline__ static D magnitude(Number) { return D(0); }

    typedef Number Sum;
    __device__ __forceinline__ static Sum zero_sum() { return D(0); }
    __device__ __forceinline__ Sum sum(Sum to, Number term) const { return add(to, term); }
    __device__ __forceinline__ static Number lead(Sum s) { return s; }
    __device__ __forceinline__ static Number rest(Sum) { return D(0); }
    __device__ __forceinline__ static Sum joined(Number lead, Number) { return lead; }
    __device__ __forceinline__ static Sum opposite(Sum s) { return negate(s); }
    __device__ __forceinline__ static Number total(Sum s) { return s; }
};
