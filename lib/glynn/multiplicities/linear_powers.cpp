#include "lib/glynn/multiplicities/linear_powers.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

bool is_zero(const GaussianInteger &x) { return x.re == 0 && x.im == 0; }

// Parts that are 0 cost next to nothing, so real numbers need no code of their own.
void add_product(GaussianInteger &sum, const GaussianInteger &x, const GaussianInteger &y) {
    sum.re += x.re * y.re;
    sum.re -= x.im * y.im;
    sum.im += x.re * y.im;
    sum.im += x.im * y.re;
}

GaussianInteger operator*(const GaussianInteger &x, const GaussianInteger &y) {
    GaussianInteger product;
    add_product(product, x, y);
    return product;
}

GaussianInteger power(GaussianInteger x, std::int32_t exponent) {
    GaussianInteger result{1, 0};
    for (; exponent > 0; exponent /= 2) {
        poll();
        if (exponent % 2 == 1) result = result * x;
        if (exponent > 1) x = x * x;
    }
    return result;
}

using Polynomial = std::vector<GaussianInteger>; // by power of x

Polynomial times(const Polynomial &f, const LinearPower &p) {
    Polynomial product(f.size() + 1);
    for (std::size_t s = 0; s < f.size(); ++s) {
        add_product(product[s], f[s], p.constant);
        add_product(product[s + 1], f[s], p.slope);
    }
    return product;
}

mpz_class size_of(const GaussianInteger &x) { return abs(x.re) + abs(x.im); }

double bits_of(const mpz_class &x) { return static_cast<double>(mpz_sizeinbase(x.get_mpz_t(), 2)); }

// The sum of all coefficients' sizes is below 2 to this.
double bits_of(const std::vector<LinearPower> &powers) {
    double bits = 0;
    for (const LinearPower &p : powers) bits += p.exponent * bits_of(size_of(p.slope) + size_of(p.constant));
    return bits;
}

// Those of the factors that the recurrence multiplies by and divides by.
double step_bits(const std::vector<LinearPower> &powers) {
    double bits = 64; // with a power of x, and an exponent
    for (const LinearPower &p : powers) bits += bits_of(size_of(p.slope) + size_of(p.constant));
    return 2 * bits; // with a conjugate
}

// What single terms are taken out of the product, so that neither constants nor slopes are 0, and the product
// is turned round where that makes the degree less.
GaussianInteger take_out_terms(std::vector<LinearPower> &powers, std::int64_t &degree) {
    GaussianInteger factor{1, 0};
    std::int64_t most = 0;
    std::vector<LinearPower> left;
    for (LinearPower &p : powers) {
        if (is_zero(p.constant)) {
            factor = factor * power(p.slope, p.exponent);
            degree -= p.exponent;
        } else if (is_zero(p.slope)) {
            factor = factor * power(p.constant, p.exponent);
        } else {
            most += p.exponent;
            left.push_back(std::move(p));
        }
    }
    powers = std::move(left);
    if (degree < 0 || degree > most) return {};
    if (degree > most - degree) {
        degree = most - degree;
        for (LinearPower &p : powers) std::swap(p.slope, p.constant);
    }
    return factor;
}

// D_0 (k + 1) f_(k+1) = sum over 0 <= s < p of (S_s - (k - s) D_(s+1)) f_(k-s), times the conjugate of D_0,
// so that a real number is what it is divided by; all less their common divisor.
struct Recurrence {
    Polynomial d, s;
    mpz_class divisor;

    Recurrence(const std::vector<LinearPower> &powers) : d{{1, 0}} {
        for (const LinearPower &p : powers) {
            poll();
            GaussianInteger by = p.slope;
            by.re *= p.exponent;
            by.im *= p.exponent;
            if (!s.empty()) s = times(s, p);
            s.resize(d.size());
            for (std::size_t k = 0; k < d.size(); ++k) add_product(s[k], d[k], by);
            d = times(d, p);
        }
        const GaussianInteger conjugate{d[0].re, -d[0].im};
        divisor = d[0].re * d[0].re + d[0].im * d[0].im;
        mpz_class common = divisor;
        for (Polynomial *f : {&d, &s})
            for (GaussianInteger &x : *f) {
                x = x * conjugate;
                common = gcd(common, gcd(x.re, x.im));
            }
        for (Polynomial *f : {&d, &s})
            for (GaussianInteger &x : *f) {
                x.re /= common;
                x.im /= common;
            }
        divisor /= common;
    }
};

} // namespace

GaussianInteger coefficient(std::vector<LinearPower> powers, std::int64_t degree, MemoryAccount *account) {
    const double numbers = static_cast<double>(powers.size()) + 6; // kept, and on the way
    const Charge charge(account, static_cast<std::int64_t>(
                                     std::min(numbers * (bits_of(powers) + step_bits(powers)) / 4, 0x1p62)));
    const GaussianInteger factor = take_out_terms(powers, degree);
    if (is_zero(factor)) return {};
    GaussianInteger first{1, 0};
    for (const LinearPower &p : powers) first = first * power(p.constant, p.exponent);
    const auto order = static_cast<std::int64_t>(powers.size());
    if (degree == 0) return factor * first;
    const Recurrence recurrence(powers);
    Polynomial last(powers.size()); // f_k stands at k modulo their number
    last[0] = std::move(first);
    GaussianInteger next;
    for (std::int64_t k = 0; k < degree; ++k) {
        poll();
        next.re = next.im = 0;
        for (std::int64_t s = 0; s <= std::min(k, order - 1); ++s) {
            GaussianInteger by = recurrence.s[at(s)];
            by.re -= (k - s) * recurrence.d[at(s + 1)].re;
            by.im -= (k - s) * recurrence.d[at(s + 1)].im;
            add_product(next, by, last[at((k - s) % order)]);
        }
        const mpz_class divisor = recurrence.divisor * (k + 1);
        for (mpz_class *part : {&next.re, &next.im})
            mpz_divexact(part->get_mpz_t(), part->get_mpz_t(), divisor.get_mpz_t());
        std::swap(last[at((k + 1) % order)], next);
    }
    return factor * last[at(degree % order)];
}

double coefficient_seconds(const std::vector<LinearPower> &powers, std::int64_t degree) {
    const bool is_complex = std::any_of(powers.begin(), powers.end(), [](const LinearPower &p) {
        return p.slope.im != 0 || p.constant.im != 0;
    });
    std::int64_t most = 0;
    for (const LinearPower &p : powers) most += p.exponent;
    const double steps = static_cast<double>(std::min(degree, most - degree)),
                 products = (is_complex ? 4 : 1) * static_cast<double>(powers.size()) + 2,
                 words = bits_of(powers) / 64, step_words = step_bits(powers) / (is_complex ? 64 : 128);
    constexpr double product = 1e-7, word = 1.2e-9;
    return steps * products * (product + word * words * step_words);
}

} // namespace libperm
