#include "lib/glynn/glynn_integers.hpp"

#include "lib/number/doubles.hpp"
#include "lib/run/call.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>

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

// A walk's terms have a Row, a number of which rows' sums are made, a Sum, what they come to, and a Total,
// what that is as a number: they are products of row sums, 1 at first. Four of them have the signs +, -, -,
// +.

// The two parts of a complex number.
template <class T> struct Pair {
    T re = 0, im = 0;

    friend Pair operator+(const Pair &x, const Pair &y) { return {x.re + y.re, x.im + y.im}; }
    friend Pair operator-(const Pair &x, const Pair &y) { return {x.re - y.re, x.im - y.im}; }
    friend Pair operator*(const Pair &x, const Pair &y) {
        return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
    }
    Pair &operator+=(const Pair &x) { return *this = *this + x; }
    Pair &operator-=(const Pair &x) { return *this = *this - x; }
};

// In numbers modulo 2^64 or 2^128; a row's sum is known to fit 64 bits where 128 are needed.
template <class Ring, bool is_complex> struct RingTerm {
    using Row = std::conditional_t<is_complex, Pair<std::uint64_t>, std::uint64_t>;
    using Sum = std::conditional_t<is_complex, Pair<Ring>, Ring>;
    using Total = Sum;
    Sum product{1};

    void multiply(const Row &x) {
        const auto wide = [](std::uint64_t y) { return static_cast<Ring>(static_cast<std::int64_t>(y)); };
        if constexpr (is_complex)
            product = product * Sum{wide(x.re), wide(x.im)};
        else
            product *= wide(x);
    }
    static void add(const std::array<RingTerm, at_once> &x, bool negative, Sum &to) {
        const Sum terms = x[0].product - x[1].product - x[2].product + x[3].product;
        to = negative ? to - terms : to + terms;
    }
    static Row row(const IntegerColumns &a, std::size_t k) {
        const auto re = static_cast<std::uint64_t>(a.re[k]);
        if constexpr (is_complex)
            return {re, static_cast<std::uint64_t>(a.im[k])};
        else
            return re;
    }
    static const Total &total(const Sum &sum) { return sum; }
};

static_assert(GMP_NUMB_BITS == 64);

// Row sums are below 20 * 2^63, 2^19 products of 20 of them below 2^1390.
constexpr std::size_t most_words = 22;

// A number that is not negative, word by word.
class Words {
  public:
    Words() = default; // 0
    explicit Words(std::uint64_t x) : length_(1) { words_[0] = x; }

    void multiply(std::uint64_t x) {
        words_[length_] = mpn_mul_1(words_.data(), words_.data(), length(), x);
        length_ += words_[length_] != 0;
    }
    void multiply(UInt128 x) {
        std::array<mp_limb_t, most_words + 2> product;
        product[length_] = mpn_mul_1(product.data(), words_.data(), length(), static_cast<mp_limb_t>(x));
        product[length_ + 1] =
            mpn_addmul_1(product.data() + 1, words_.data(), length(), static_cast<mp_limb_t>(x >> 64));
        length_ += 1 + (product[length_ + 1] != 0);
        std::copy_n(product.begin(), length_, words_.begin());
    }
    void add(const Words &x) {
        while (length_ < x.length_) words_[length_++] = 0;
        words_[length_] = mpn_add(words_.data(), words_.data(), length(), x.words_.data(), x.length());
        length_ += words_[length_] != 0;
    }
    mpz_class number() const {
        mpz_class number;
        mpz_import(number.get_mpz_t(), length_, -1, sizeof(mp_limb_t), 0, 0, words_.data());
        return number;
    }

  private:
    mp_size_t length() const { return static_cast<mp_size_t>(length_); }

    std::array<mp_limb_t, most_words + 2> words_; // those from length_ on say nothing
    std::size_t length_ = 0;
};

// In as many words as it takes; a row's sum has 64 or 128 bits.
template <class Int, class Magnitude> class LongTerm {
  public:
    using Row = Int;
    struct Sum {
        std::array<Words, 2> of_sign; // of the positive ones, and of the others
    };
    using Total = mpz_class;

    void multiply(Row x) {
        negative_ ^= x < 0;
        const Magnitude size = x < 0 ? -static_cast<Magnitude>(x) : static_cast<Magnitude>(x);
        if (size >> 32 >> 32 != 0) return words_.multiply(UInt128{size});
        // Factors are multiplied before the words are, as long as they fit one.
        const auto word = static_cast<std::uint64_t>(size), before = factor_;
        if (!__builtin_mul_overflow(before, word, &factor_)) return;
        words_.multiply(before);
        factor_ = word;
    }
    static void add(std::array<LongTerm, at_once> &x, bool negative, Sum &to) {
        for (std::size_t k = 0; k < at_once; ++k) {
            if (x[k].factor_ == 0) continue;
            x[k].words_.multiply(x[k].factor_);
            to.of_sign[x[k].negative_ ^ negative ^ (k == 1 || k == 2)].add(x[k].words_);
        }
    }
    static Row row(const IntegerColumns &a, std::size_t k) { return a.re[k]; }
    static Total total(const Sum &sum) { return sum.of_sign[0].number() - sum.of_sign[1].number(); }

  private:
    Words words_{1};
    std::uint64_t factor_ = 1;
    bool negative_ = false;
};

// Walks as jit/lanes/sign_sum.cpp does: the low columns' signs at once, the others along a Gray code.
template <class Term> class IntegerWalk {
    using Row = typename Term::Row;

  public:
    IntegerWalk(const IntegerColumns &a, int n, int stride) : a_(a), n_(n), stride_(stride) {
        for (int i = 0; i < n; ++i) {
            const Row x = entry(i, 1), y = entry(i, 2);
            low_[at(i)] = {x + y, y - x, x - y, Row{} - x - y};
        }
    }

    typename Term::Sum sum(std::uint64_t first, std::uint64_t last) {
        for (int i = 0; i < n_; ++i) base_[at(i)] = entry(i, 0);
        const std::uint64_t gray = first ^ first >> 1;
        for (int j = low_columns + 1; j < n_; ++j) add_column(j, gray >> (j - low_columns - 1) & 1);
        typename Term::Sum sum{};
        for (std::uint64_t step = first; step < last; ++step) {
            if (step > first) {
                const int bit = std::countr_zero(step), j = low_columns + 1 + bit;
                const bool taken_off = (step ^ step >> 1) >> bit & 1;
                add_column(j, taken_off);
                add_column(j, taken_off);
            }
            std::array<Term, at_once> product;
            for (int i = 0; i < n_; ++i)
                for (std::size_t k = 0; k < at_once; ++k) product[k].multiply(base_[at(i)] + low_[at(i)][k]);
            Term::add(product, step & 1, sum);
        }
        return sum;
    }

  private:
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    Row entry(int i, int j) const { return Term::row(a_, at(j * stride_ + i)); }
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

// done(steps) of those of a piece.
template <class Term, class Done>
typename Term::Total sum_of(const IntegerColumns &columns, const SmallMatrix &a, int threads,
                            const Done &done) {
    const std::uint64_t steps = std::uint64_t{1} << (a.order - 1 - low_columns);
    return sum_of_pieces(
        sign_pieces(a.order, steps), threads, [] { return typename Term::Total(); },
        [&](NumberRange some) {
            const auto sum = IntegerWalk<Term>(columns, a.order, a.stride).sum(some.first, some.last);
            done(some.size());
            return Term::total(sum);
        },
        [](const typename Term::Total &part, typename Term::Total &all) { all += part; });
}
template <class Term>
typename Term::Total sum_of(const IntegerColumns &columns, const SmallMatrix &a, int threads) {
    return sum_of<Term>(columns, a, threads, [](double) {});
}

Int128 as_signed(std::uint64_t x) { return static_cast<std::int64_t>(x); }
Int128 as_signed(UInt128 x) { return static_cast<Int128>(x); }

template <class Ring>
IntegerPermanent permanent(const IntegerColumns &columns, const SmallMatrix &a, int threads) {
    const int halvings = a.order - 1;
    if (!a.is_complex)
        return {as_signed(sum_of<RingTerm<Ring, false>>(columns, a, threads)) >> halvings, 0, columns.exp2};
    const auto sum = sum_of<RingTerm<Ring, true>>(columns, a, threads);
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

mpz_class glynn_mpz(const SmallMatrix &a, int threads, const CallWatch &watch) {
    constexpr double seconds_of_step = 2e-6; // of one thread
    IntegerColumns columns;
    make_integer(a, columns);
    CurrentCall control(watch);
    const double steps = std::ldexp(1.0, a.order - 1 - low_columns);
    call().begin(steps, steps * seconds_of_step / threads);
    const auto done = [&](double some) { call().advance(some); };
    const mpz_class sum = columns.sums_fit
                              ? sum_of<LongTerm<std::int64_t, std::uint64_t>>(columns, a, threads, done)
                              : sum_of<LongTerm<Int128, UInt128>>(columns, a, threads, done);
    return sum >> (a.order - 1); // which is exact
}

} // namespace libperm
