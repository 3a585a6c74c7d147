// What a state carries that is moved along a frontier or a period: traits over an arithmetic of
// jit/number/number.hpp, numbers with exponents of their own, and residues.
#pragma once

#include "jit/number/number.hpp"
#include "lib/number/residues.hpp"
#include "preprocess/frontier_steps.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace libperm {

// Scales a number that is made of doubles.
template <class N>
requires std::is_trivially_copyable_v<N> N times_power(const N &number, int exp2) {
    if (exp2 == 0) return number;
    auto doubles = std::bit_cast<std::array<double, sizeof(N) / sizeof(double)>>(number);
    for (double &x : doubles) x = std::ldexp(x, exp2);
    return std::bit_cast<N>(doubles);
}

// How large and how small the numbers of a step are: what overflow, underflow and exactness depend on.
struct Extent {
    double largest = 0;                                        // magnitude
    double smallest = std::numeric_limits<double>::infinity(); // value, or magnitude, that is not 0

    friend Extent join(const Extent &x, const Extent &y) {
        return {std::max(x.largest, y.largest), std::min(x.smallest, y.smallest)};
    }
};

// Before the states of two lists are multiplied, each list is scaled by a power of two.
struct JoinScales {
    int of_this, of_other; // the exponents
};

// Entries >= 0, none of them made by cancellation: the value bounds its own error.
template <class A> struct NonNegative {
    using Arithmetic = A;
    typename A::Number value;

    static NonNegative number(double x) { return {A::number(x)}; }
    static NonNegative coefficient(const typename A::Number &a, double /*magnitude*/) { return {a}; }
    double magnitude() const { return A::magnitude(value); }
    double least() const { return A::magnitude(value); } // 0, or the smallest of its parts

    friend NonNegative operator+(const NonNegative &x, const NonNegative &y) {
        return {A::add(x.value, y.value)};
    }
    friend NonNegative operator*(const NonNegative &x, const NonNegative &y) {
        return {A::multiply(x.value, y.value)};
    }
};

// Other entries: beside the value the sum of the terms' absolute values.
template <class A> struct alignas(A::parts == 1 ? 16 : 8) Signed {
    using Arithmetic = A;
    typename A::Number value;
    double absolute;

    static Signed number(double x) { return {A::number(x), x}; } // x >= 0
    static Signed coefficient(const typename A::Number &a, double magnitude) { return {a, magnitude}; }
    double magnitude() const { return absolute; }
    double least() const {
        if constexpr (A::parts == 1) return value != 0 ? std::fabs(value) : absolute;
        return absolute; // nothing is said to be exact
    }

    friend Signed operator+(const Signed &x, const Signed &y) {
        return {A::add(x.value, y.value), x.absolute + y.absolute};
    }
    friend Signed operator*(const Signed &x, const Signed &y) {
        return {A::multiply(x.value, y.value), x.absolute * y.absolute};
    }
};

// The least and the largest of many numbers.

struct MagnitudeRange { // of numbers that are not negative: the least is that of the positive ones
    double least = std::numeric_limits<double>::infinity(), most = 0;
};

// work(k, k % 4) for k = 0 .. count - 1, so that what is made of every fourth does not wait for the others.
template <class Work> void by_fours(std::size_t count, const Work &work) {
    std::size_t k = 0;
    for (; k + 4 <= count; k += 4)
        for (std::size_t j = 0; j < 4; ++j) work(k + j, j);
    for (; k < count; ++k) work(k, k % 4);
}

inline MagnitudeRange range_of(const double *numbers, std::size_t count) {
    std::array<double, 4> least{}, most{};
    least.fill(MagnitudeRange().least);
    by_fours(count, [&](std::size_t k, std::size_t j) {
        const double x = numbers[k], positive = x > 0 ? x : MagnitudeRange().least;
        least[j] = positive < least[j] ? positive : least[j];
        most[j] = x > most[j] ? x : most[j];
    });
    return {*std::min_element(least.begin(), least.end()), *std::max_element(most.begin(), most.end())};
}

// Adds `by` > 0 to numbers that lie `apart` from each other; the least is not looked for.
// NOLINTNEXTLINE(readability-non-const-parameter): they are written through a reference
inline MagnitudeRange raised_range(double *numbers, std::size_t count, std::size_t apart, double by) {
    std::array<double, 4> most{};
    by_fours(count, [&](std::size_t k, std::size_t j) {
        double &x = numbers[k * apart];
        x += by;
        most[j] = x > most[j] ? x : most[j];
    });
    return {MagnitudeRange().least, *std::max_element(most.begin(), most.end())};
}

// States whose magnitudes lie further apart than a double reaches: each number has an exponent of its own.
//
// In a long matrix the states of one row can be products of entries in numbers that grow apart without end,
// as those of a ring do with what crosses its cut. Rows and columns scaled by powers of two do not help: what
// a cycle of entries comes to stays.

// number * 2^exp2; the magnitude of the number is in [2^-reach, 2^reach], or 0.
template <class N> struct Ranged {
    static constexpr int reach = 200;
    // What lies further below another number is cut off: less than 2^-500 of it.
    static constexpr std::int64_t far = 900;

    N number;
    std::int64_t exp2 = 0;

    static Ranged normalised(const N &number, std::int64_t exp2) {
        const double size = number.magnitude();
        if (size == 0) return {number, 0};
        if (size >= std::ldexp(1.0, -reach) && size <= std::ldexp(1.0, reach)) return {number, exp2};
        const int exponent = std::ilogb(size);
        return {times_power(number, -exponent), exp2 + exponent};
    }

    friend Ranged operator*(const Ranged &x, const Ranged &y) {
        return normalised(x.number * y.number, x.exp2 + y.exp2);
    }
    friend Ranged operator+(const Ranged &x, const Ranged &y) {
        if (x.number.magnitude() == 0) return y;
        if (y.number.magnitude() == 0) return x;
        const Ranged &high = x.exp2 >= y.exp2 ? x : y, &low = x.exp2 >= y.exp2 ? y : x;
        const std::int64_t apart = high.exp2 - low.exp2;
        if (apart == 0) return normalised(x.number + y.number, x.exp2);
        if (apart > far) return high;
        return normalised(high.number + times_power(low.number, -static_cast<int>(apart)), high.exp2);
    }
};

template <class N> struct WithoutExponent { using Number = N; };
template <class N> struct WithoutExponent<Ranged<N>> { using Number = N; };

// What is done with numbers that a bound of their error is known of: NonNegative, Signed, or one of them with
// an exponent of its own.
template <class N> struct BoundedOperations {
    using Number = N;
    using Factor = N;
    using Plain = typename WithoutExponent<N>::Number;
    static constexpr bool has_exponents = !std::is_same_v<N, Plain>; // beside those of its doubles

    static Number zero() { return with_exponent(Plain::number(0)); }
    static Number one() { return with_exponent(Plain::number(1)); }
    static Number add(const Number &x, const Number &y) { return x + y; }
    static Number multiply(const Factor &factor, const Number &x) { return factor * x; }
    static Factor times(const Factor &factor, std::int32_t copies) {
        return factor * with_exponent(Plain::number(copies));
    }

    // `exp2` is 0 where there are no exponents.
    static Number with_exponent(const Plain &x, std::int64_t exp2 = 0) {
        if constexpr (has_exponents)
            return N::normalised(x, exp2);
        else
            return x;
    }
    static const Plain &plain(const Number &x) {
        if constexpr (has_exponents)
            return x.number;
        else
            return x;
    }
    static std::int64_t exponent_of(const Number &x) {
        if constexpr (has_exponents)
            return x.exp2;
        else
            return 0;
    }
};

// Residues as states carry them: of K matrices at once, each modulo its own prime p < 2^62.
//
// Every product is one with an entry: with floor(2^64 a / p) beside a, a x - floor(x floor(2^64 a / p) /
// 2^64) p lies in 0 .. 2p - 1 for every x < 2^64 (Shoup; Harvey, J. Symbolic Comput. 60 (2014), Theorem 1).
// So the states are kept below 2p.

constexpr int residue_bits = 62;    // primes lie below 2^62
constexpr int residues_at_once = 4; // matrices, at most

// Of so many matrices those that are done at once: what is left of a pass is filled up.
constexpr int residue_pass(int matrices) { return matrices <= 2 ? matrices : residues_at_once; }

template <int K> class ResidueNumbers {
    __extension__ typedef unsigned __int128 Wide;
    using Word = std::uint64_t;

  public:
    using Number = std::array<Word, K>; // below 2p
    struct Factor {
        Number value, quotient; // a, floor(2^64 a / p)
    };
    static constexpr bool is_slow = false;
    template <class Work> static void with(const Work &work) { work(); }

    ResidueNumbers(const Residues &residues, std::size_t first) {
        for (std::size_t k = 0; k < K; ++k) {
            const std::size_t matrix = std::min(first + k, residues.primes.size() - 1);
            prime_[k] = residues.primes[matrix];
            values_[k] = residues.values[matrix].data();
        }
    }

    const std::vector<Factor> &begin_step(const FrontierStep &step) {
        factors_.clear();
        for (const FrontierTerm &t : step.terms) {
            Number a;
            for (std::size_t k = 0; k < K; ++k) a[k] = t.entry < 0 ? 1 : values_[k][t.entry];
            factors_.push_back(factor(a));
        }
        return factors_;
    }
    Factor times(const Factor &x, std::int32_t copies) const {
        Number a;
        for (std::size_t k = 0; k < K; ++k)
            a[k] = static_cast<Word>(Wide{x.value[k]} * static_cast<Word>(copies) % prime_[k]);
        return factor(a);
    }

    static Number zero() { return {}; }
    static Number one() {
        Number x;
        x.fill(1);
        return x;
    }
    Number add(Number x, const Number &y) const {
        for (std::size_t k = 0; k < K; ++k) {
            x[k] += y[k];
            x[k] = std::min(x[k], x[k] - 2 * prime_[k]); // below 0 is far above
        }
        return x;
    }
    Number multiply(const Factor &a, Number x) const {
        for (std::size_t k = 0; k < K; ++k) {
            const auto q = static_cast<Word>(Wide{a.quotient[k]} * x[k] >> 64);
            x[k] = a.value[k] * x[k] - q * prime_[k];
        }
        return x;
    }

    static Extent extent_of(const Number *, std::size_t) { return {}; }
    void end_step(double, double, const Extent &) {}

    JoinScales begin_join(const ResidueNumbers &, double, double) { return {0, 0}; }
    static bool is_zero(const Number &x) { return x == Number{}; }
    static Number scaled(const Number &x, int) { return x; } // by 2^0
    Factor factor_of(const Number &x, int) const { return factor(close(x)); }

    Word prime() const { return prime_[0]; } // of the first matrix

    Number close(Number last) const {
        for (std::size_t k = 0; k < K; ++k) last[k] = std::min(last[k], last[k] - prime_[k]);
        return last;
    }

  private:
    Factor factor(const Number &a) const {
        Factor f{a, {}};
        for (std::size_t k = 0; k < K; ++k) f.quotient[k] = static_cast<Word>((Wide{a[k]} << 64) / prime_[k]);
        return f;
    }

    Number prime_;
    std::array<const Word *, K> values_;
    std::vector<Factor> factors_;
};

// What run(numbers) comes to modulo each prime, of so many matrices at a time; numbers: ResidueNumbers<1>,
// <2> or <4>.
template <class Run>
std::vector<std::uint64_t> in_passes(const Residues &residues, std::size_t at_once, const Run &run) {
    std::vector<std::uint64_t> all;
    const std::size_t matrices = residues.primes.size();
    const auto pass = [&](auto &&numbers) {
        const auto few = numbers.close(run(numbers));
        const std::size_t left = std::min(matrices - all.size(), few.size());
        all.insert(all.end(), few.begin(), few.begin() + static_cast<std::ptrdiff_t>(left));
    };
    while (all.size() < matrices) {
        const std::size_t left = std::min(at_once, matrices - all.size());
        if (left == 1)
            pass(ResidueNumbers<1>(residues, all.size()));
        else if (left == 2)
            pass(ResidueNumbers<2>(residues, all.size()));
        else
            pass(ResidueNumbers<residues_at_once>(residues, all.size()));
    }
    return all;
}

} // namespace libperm
