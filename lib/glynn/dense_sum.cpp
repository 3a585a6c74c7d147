#include "lib/glynn/dense_sum.hpp"

#include "lib/number/ball.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/wide_value.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace libperm {
namespace {

// Permanents of up to three rows of doubles by their definition, in double-double numbers: the double next to
// each.
constexpr int most_by_definition = 3;

constexpr double least = 0x1p-300, most = 0x1p300; // of entries: no product of three leaves doubles' range

DoubleDouble product(double a, double b) {
    const double p = a * b;
    return {p, std::fma(a, b, -p)};
}

// Relative error at most 2^-104 (Joldes, Muller and Popescu, DWTimesFP1).
DoubleDouble operator*(DoubleDouble x, double y) {
    const DoubleDouble p = product(x.hi, y);
    return two_sum(p.hi, p.lo + x.lo * y);
}

DoubleDouble operator-(DoubleDouble x) { return {-x.hi, -x.lo}; }

struct Entry {
    double re, im;
};

struct Term {
    DoubleDouble re{1, 0}, im;
    double size = 1; // of the product of |re| + |im|
};

Term operator*(const Term &x, Entry y) {
    return {x.re * y.re + -(x.im * y.im), x.re * y.im + x.im * y.re,
            x.size * (std::fabs(y.re) + std::fabs(y.im))};
}

void add(const Term &x, Term &sum) {
    sum.re = sum.re + x.re;
    sum.im = sum.im + x.im;
    sum.size += x.size;
}

// Entries as they are, and what they have in common.
struct Entries {
    Entry at[most_by_definition][most_by_definition];
    bool in_range = true;
    int unit = std::numeric_limits<int>::max(); // all are multiples of 2^unit

    explicit Entries(const SmallMatrix &a) {
        for (int i = 0; i < a.given; ++i)
            for (int j = 0; j < a.given; ++j)
                at[i][j] = {read(a.re[a.at(i, j)]), a.is_complex ? read(a.im[a.at(i, j)]) : 0};
    }

  private:
    double read(double x) {
        if (x == 0) return x;
        in_range = in_range && std::fabs(x) >= least && std::fabs(x) <= most;
        const auto word = std::bit_cast<std::uint64_t>(x);
        const auto digits = word | std::uint64_t{1} << 52;
        unit = std::min(unit, static_cast<int>(word >> 52 & 0x7ff) - 1075 + std::countr_zero(digits));
        return x;
    }
};

Term sum_of(const Entries &entry, int n) {
    Term sum{{0, 0}, {0, 0}, 0};
    for (int j = 0; j < n; ++j) {
        const Term one = Term() * entry.at[0][j];
        if (n == 1) add(one, sum);
        for (int k = 0; k < n && n > 1; ++k) {
            if (k == j) continue;
            const Term two = one * entry.at[1][k];
            add(n == 2 ? two : two * entry.at[2][3 - j - k], sum);
        }
    }
    return sum;
}

// False: entries lie too far from 1. Proof of the bound: docs/accuracy.md, "Up to three rows".
bool permanent_by_definition(const SmallMatrix &a, TapeAnswer &answer) {
    const Entries entries(a);
    if (!entries.in_range) return false;
    const Term sum = sum_of(entries, a.given);
    const bool nothing_rounds = sum.size == 0 || sum.size < std::ldexp(1.0, a.given * entries.unit + 103);
    const double error =
        (nothing_rounds ? 0 : sum.size * 0x1p-97) + std::fabs(sum.re.lo) + std::fabs(sum.im.lo);
    answer.re = make_scaled(sum.re.hi);
    answer.im = make_scaled(sum.im.hi);
    answer.exact = error == 0;
    answer.error = {};
    answer.rel_error_bound = 0;
    if (!answer.exact)
        answer.set_error(make_scaled(std::hypot(sum.re.hi, sum.im.hi)), make_scaled(error * (1 + 0x1p-50)));
    return true;
}

TapeAnswer rounded(const IntegerPermanent &permanent) {
    TapeAnswer answer;
    const auto re = static_cast<double>(permanent.re), im = static_cast<double>(permanent.im);
    answer.re = make_scaled(re, permanent.exp2);
    answer.im = make_scaled(im, permanent.exp2);
    answer.exact = fits_double(permanent.re) && fits_double(permanent.im);
    if (answer.exact) return answer;
    const double size = std::hypot(re, im);
    answer.set_error(make_scaled(size, permanent.exp2),
                     make_scaled(size * 0x1p-53 * (1 + 0x1p-50), permanent.exp2));
    return answer;
}

Scaled nearest(const mpz_class &x) {
    const Tracked near = tracked_of(mpq_class(x));
    return make_scaled(near.value, near.exp2);
}

} // namespace

bool fits_double(Int128 x) { return static_cast<Int128>(static_cast<double>(x)) == x; }

bool sum_dense(const SmallMatrix &a, Precision precision, int threads, const CallWatch &watch,
               DenseSum &out) {
    if (a.given >= least_order_compared && may_have_proportional_lines(a)) return false;
    if (precision == Precision::exact && !a.is_integer) return false;
    out.is_by_definition = !a.is_integer && a.given <= most_by_definition;
    if (out.is_by_definition) return permanent_by_definition(a, out.value);
    const bool counts = a.is_integer && precision != Precision::double_;
    if (const auto integer = glynn_int128(a, counts, threads)) {
        out.value = rounded(*integer);
        if (counts) out.integer = integer->re;
    } else if (counts) {
        out.value.re = nearest(out.mpz.emplace(glynn_mpz(a, threads, watch)));
    } else if (a.is_integer || !glynn_double(a, threads, out.value)) {
        return false;
    }
    if (counts) { // every digit is in the text
        out.value.exact = true;
        out.value.error = {};
        out.value.rel_error_bound = 0;
    }
    return true;
}

namespace {

TermSum sum_of(const SignColumns &columns, int threads) {
    return sum_of_pieces(
        sign_pieces(columns.n, sign_steps(columns)), threads, [] { return TermSum(); },
        [&](NumberRange steps) { return sum_over_signs(columns, steps.first, steps.last); },
        [](const TermSum &part, TermSum &all) { add(part, all); });
}

// Only the rows that were given count: those that were added round nothing.
double roundings_of(const SignColumns &columns, int given) {
    const int of_step = std::bit_width(static_cast<unsigned>(vectors_of_step(columns))) - 1;
    return roundings_of_term(columns, given) + of_step;
}

// Proof: docs/accuracy.md, "Sums over signs".
double error_of(const TermSum &sum, const SignColumns &columns, int given, double moved) {
    const double gamma = gamma_bound(roundings_of(columns, given)), underflow = columns.n * 0x1p-1040;
    const double error =
        (gamma / (1 - gamma) + 0x1p-80) * sum.mass * (1 + 0x1p-20) + 0x1.01p-53 * size_of(sum) + underflow;
    return moved == 0 ? error : error + std::ldexp(moved, columns.n - 1);
}

} // namespace

bool glynn_double(const SmallMatrix &a, int threads, TapeAnswer &answer) {
    SmallGrid fixed;
    if (!put_on_grid(a, fixed)) return false;
    const SignColumns columns{fixed.of(a), a.order};
    const TermSum sum = sum_of(columns, threads);
    answer = answer_of(sum, error_of(sum, columns, a.given, fixed.moved), fixed.exp2 - (a.order - 1));
    return true;
}

double roundings_of_term(const GridColumns &columns, int n) {
    return (n - 1) * product_roundings(columns.arithmetic()) + (columns.is_split() ? n : 0);
}

void add(const TermSum &part, TermSum &sum) {
    const auto put = [](double x, double rest, double &to, double &rests) {
        const DoubleDouble s = two_sum(to, x);
        to = s.hi;
        rests += s.lo + rest;
    };
    put(part.re, part.re_rest, sum.re, sum.re_rest);
    put(part.im, part.im_rest, sum.im, sum.im_rest);
    sum.mass += part.mass;
}

double size_of(const TermSum &sum) {
    const double re = sum.re + sum.re_rest, im = sum.im + sum.im_rest, square = re * re + im * im;
    return square > 0x1p-900 ? std::sqrt(square) : std::hypot(re, im);
}

TapeAnswer answer_of(const TermSum &sum, double error, std::int64_t exp2) {
    TapeAnswer answer;
    answer.re = make_scaled(sum.re + sum.re_rest, exp2);
    answer.im = make_scaled(sum.im + sum.im_rest, exp2);
    answer.exact = error == 0;
    if (!answer.exact) answer.set_error(make_scaled(size_of(sum), exp2), make_scaled(error, exp2));
    return answer;
}

} // namespace libperm
