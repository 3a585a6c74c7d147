#include "lib/glynn/glynn_int128.hpp"

#include "lib/glynn/sign_pieces.hpp"
#include "lib/glynn/small_matrix.hpp"
#include "lib/number/bits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace libperm {
namespace {

// A small matrix of integers, of doubles too where each row's are short multiples of a power of two.
struct IntegerColumns {
    std::int64_t exp2 = 0; // the permanent is that of the columns times 2^exp2
    double bound = 0;      // of the columns' permanent, each part of it: n! times the rows' largest
    bool sums_fit = false; // of a row's entries with any signs, in 64 bits
    double product = 0;    // of the rows' sums of absolute values: no term is larger, nor what it is made of
    // NOLINTBEGIN(*-member-init): as many as the order takes are written
    SmallColumns<std::int64_t> re, im; // im: of complex matrices
    // NOLINTEND(*-member-init)
};

constexpr int most_digits = 40; // of a double that counts as short
constexpr int most_bits = 61;   // of an integer made of one
constexpr int most_unit_exponent = 900;

// The exponents of a row's bits: from the last one of any entry to beyond the first.
struct Span {
    int low = 2000, high = -2000;
};

using Spans = std::array<Span, most_small_order>;
std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }

// False if one has too many bits, or is subnormal.
bool span(const SmallMatrix &a, const SmallColumns<double> &part, Spans &spans) {
    for (int j = 0; j < a.order; ++j)
        for (int i = 0; i < a.order; ++i) {
            const std::uint64_t word = bits_of(part[a.at(i, j)]) << 1 >> 1;
            if (word == 0) continue;
            const auto exponent = static_cast<int>(word >> 52);
            const int zeros = std::countr_zero(word | std::uint64_t{1} << 52);
            if (exponent == 0 || zeros < 53 - most_digits) return false;
            Span &row = spans[static_cast<std::size_t>(i)];
            row.low = std::min(row.low, exponent - 1075 + zeros);
            row.high = std::max(row.high, exponent - 1022);
        }
    return true;
}

void multiply(const SmallMatrix &a, const SmallColumns<double> &part,
              const std::array<double, most_small_order> &by, SmallColumns<std::int64_t> &out) {
    for (int j = 0; j < a.order; ++j)
        for (int i = 0; i < a.order; ++i)
            out[a.at(i, j)] = static_cast<std::int64_t>(part[a.at(i, j)] * by[static_cast<std::size_t>(i)]);
}

bool from_doubles(const SmallMatrix &a, IntegerColumns &out) {
    Spans spans;
    if (!span(a, a.re, spans) || (a.is_complex && !span(a, a.im, spans))) return false;
    std::array<double, most_small_order> scale{};
    for (int i = 0; i < a.order; ++i) {
        const Span &row = spans[static_cast<std::size_t>(i)];
        const int unit = row.high < row.low ? 0 : row.low;
        if (row.high - unit > most_bits || std::abs(unit) > most_unit_exponent) return false;
        scale[static_cast<std::size_t>(i)] = power_of_two(-unit);
        out.exp2 += unit;
    }
    multiply(a, a.re, scale, out.re);
    if (a.is_complex) multiply(a, a.im, scale, out.im);
    return true;
}

double size(std::int64_t x) { return std::fabs(static_cast<double>(x)); }

// False: some entries have too many bits.
bool make_integer(const SmallMatrix &a, IntegerColumns &out) {
    if (a.is_integer)
        std::copy_n(a.integers.begin(), a.size(), out.re.begin());
    else if (!from_doubles(a, out))
        return false;
    out.bound = out.product = 1 + 0x1p-40;
    double most_sum = 0;
    for (int i = 0; i < a.order; ++i) {
        double largest = 0, sum = 0;
        for (int j = 0; j < a.order; ++j) {
            const std::size_t k = a.at(i, j);
            const double x = size(out.re[k]) + (a.is_complex ? size(out.im[k]) : 0);
            largest = std::max(largest, x);
            sum += x;
        }
        out.bound *= largest * (i < a.given ? i + 1 : 1);
        out.product *= sum;
        most_sum = std::max(most_sum, sum);
    }
    out.sums_fit = most_sum < 0x1p62;
    return true;
}

constexpr int low_columns = 2, at_once = 1 << low_columns;
constexpr int quick_order = 10; // up to which 128 bits take microseconds

// Numbers modulo 2^64 or 2^128, and a row's sum, which is known to fit 64 bits where 128 are needed.
template <class Ring> Ring ring(std::uint64_t x) { return static_cast<Ring>(static_cast<std::int64_t>(x)); }
template <> UInt128 ring(std::uint64_t x) {
    return static_cast<UInt128>(static_cast<Int128>(static_cast<std::int64_t>(x)));
}

template <class Ring> struct Real {
    using Row = std::uint64_t;
    Ring re = 0;

    void multiply(Row x) { re *= ring<Ring>(x); }
    void add(const Real &x) { re += x.re; }
    void subtract(const Real &x) { re -= x.re; }
    static Row row(const IntegerColumns &a, std::size_t k) { return static_cast<Row>(a.re[k]); }
    static Real one() { return {1}; }
};

struct ComplexRow {
    std::uint64_t re = 0, im = 0;
    ComplexRow &operator+=(const ComplexRow &x) { return *this = {re + x.re, im + x.im}; }
    ComplexRow &operator-=(const ComplexRow &x) { return *this = {re - x.re, im - x.im}; }
    friend ComplexRow operator+(ComplexRow x, const ComplexRow &y) { return x += y; }
    friend ComplexRow operator-(ComplexRow x, const ComplexRow &y) { return x -= y; }
};

template <class Ring> struct Complex {
    using Row = ComplexRow;
    Ring re = 0, im = 0;

    void multiply(const Row &x) {
        const Ring a = ring<Ring>(x.re), b = ring<Ring>(x.im);
        *this = {re * a - im * b, re * b + im * a};
    }
    void add(const Complex &x) { *this = {re + x.re, im + x.im}; }
    void subtract(const Complex &x) { *this = {re - x.re, im - x.im}; }
    static Row row(const IntegerColumns &a, std::size_t k) {
        return {static_cast<std::uint64_t>(a.re[k]), static_cast<std::uint64_t>(a.im[k])};
    }
    static Complex one() { return {1, 0}; }
};

// Walks as jit/lanes/sign_sum.cpp does: the low columns' signs at once, the others along a Gray code.
template <class Number> class IntegerWalk {
    using Row = typename Number::Row;

  public:
    IntegerWalk(const IntegerColumns &a, int n, int stride) : a_(a), n_(n), stride_(stride) {
        for (int i = 0; i < n; ++i) {
            const Row x = entry(i, 1), y = entry(i, 2);
            low_[at(i)] = {x + y, y - x, x - y, Row{} - x - y};
        }
    }

    Number sum(std::uint64_t first, std::uint64_t last) {
        for (int i = 0; i < n_; ++i) base_[at(i)] = entry(i, 0);
        const std::uint64_t gray = first ^ first >> 1;
        for (int j = low_columns + 1; j < n_; ++j) add_column(j, gray >> (j - low_columns - 1) & 1);
        Number sum;
        for (std::uint64_t step = first; step < last; ++step) {
            if (step > first) {
                const int bit = std::countr_zero(step), j = low_columns + 1 + bit;
                const bool taken_off = (step ^ step >> 1) >> bit & 1;
                add_column(j, taken_off);
                add_column(j, taken_off);
            }
            std::array<Number, at_once> product{Number::one(), Number::one(), Number::one(), Number::one()};
            for (int i = 0; i < n_; ++i)
                for (std::size_t k = 0; k < at_once; ++k) product[k].multiply(base_[at(i)] + low_[at(i)][k]);
            Number terms = product[0];
            terms.subtract(product[1]);
            terms.subtract(product[2]);
            terms.add(product[3]);
            step & 1 ? sum.subtract(terms) : sum.add(terms);
        }
        return sum;
    }

  private:
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    Row entry(int i, int j) const { return Number::row(a_, at(j * stride_ + i)); }
    void add_column(int j, bool taken_off) {
        for (int i = 0; i < n_; ++i)
            if (taken_off)
                base_[at(i)] -= entry(i, j);
            else
                base_[at(i)] += entry(i, j);
    }

    const IntegerColumns &a_;
    const int n_, stride_;
    std::array<Row, most_small_order> base_;
    std::array<std::array<Row, at_once>, most_small_order> low_;
};

template <class Number> Number sum_of(const IntegerColumns &columns, const SmallMatrix &a, int threads) {
    const std::uint64_t steps = std::uint64_t{1} << (a.order - 1 - low_columns);
    return sum_of_pieces(
        sign_pieces(a.order, steps), threads, [] { return Number(); },
        [&](NumberRange some) {
            return IntegerWalk<Number>(columns, a.order, a.stride).sum(some.first, some.last);
        },
        [](const Number &part, Number &all) { all.add(part); });
}

Int128 as_signed(std::uint64_t x) { return static_cast<std::int64_t>(x); }
Int128 as_signed(UInt128 x) { return static_cast<Int128>(x); }

template <class Ring>
IntegerPermanent permanent(const IntegerColumns &columns, const SmallMatrix &a, int threads) {
    const int halvings = a.order - 1;
    if (!a.is_complex)
        return {as_signed(sum_of<Real<Ring>>(columns, a, threads).re) >> halvings, 0, columns.exp2};
    const auto sum = sum_of<Complex<Ring>>(columns, a, threads);
    return {as_signed(sum.re) >> halvings, as_signed(sum.im) >> halvings, columns.exp2};
}

Int128 integer(double sum, double rest) { return static_cast<Int128>(sum) + static_cast<Int128>(rest); }

// Doubles hold all products here, and the sums of four: nothing rounds, and what adding them up loses is
// kept.
IntegerPermanent permanent_in_vectors(const IntegerColumns &integer_columns, const SmallMatrix &a) {
    alignas(64) SmallColumns<double> re, im;
    const auto convert = [&a](const SmallColumns<std::int64_t> &from, SmallColumns<double> &to) {
        std::transform(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(a.size()), to.begin(),
                       [](std::int64_t x) { return static_cast<double>(x); });
    };
    SignColumns columns{{a.stride, re.data()}, a.order};
    convert(integer_columns.re, re);
    if (a.is_complex) {
        convert(integer_columns.im, im);
        columns.im = im.data();
    }
    const TermSum sum = sum_over_signs(columns, 0, sign_steps(columns));
    const int halvings = a.order - 1;
    return {integer(sum.re, sum.re_rest) >> halvings, integer(sum.im, sum.im_rest) >> halvings,
            integer_columns.exp2};
}

} // namespace

std::optional<IntegerPermanent> glynn_int128(const SmallMatrix &a, bool wants_every_digit, int threads) {
    IntegerColumns columns;
    if (!make_integer(a, columns)) return {};
    if (columns.product < 0x1p51) return permanent_in_vectors(columns, a);
    const double most = std::ldexp(columns.bound, a.order - 1); // of the sum's parts
    if (most < 0x1p63) return permanent<std::uint64_t>(columns, a, threads);
    if (!(most < 0x1p127) || !columns.sums_fit || (!wants_every_digit && a.order > quick_order)) return {};
    return permanent<UInt128>(columns, a, threads);
}

} // namespace libperm
