#include "preprocess/gaussian.hpp"

#include <algorithm>
#include <limits>

namespace libperm {

std::int64_t exponent_of(const mpq_class &x) {
    if (x == 0) return std::numeric_limits<std::int64_t>::min();
    const auto bits = [](const mpz_class &z) {
        return static_cast<std::int64_t>(mpz_sizeinbase(z.get_mpz_t(), 2));
    };
    return bits(x.get_num()) - bits(x.get_den()) + 1;
}

mpq_class shifted(const mpq_class &x, std::int64_t exp2) {
    mpq_class out;
    if (exp2 >= 0)
        mpq_mul_2exp(out.get_mpq_t(), x.get_mpq_t(), static_cast<mp_bitcnt_t>(exp2));
    else
        mpq_div_2exp(out.get_mpq_t(), x.get_mpq_t(), static_cast<mp_bitcnt_t>(-exp2));
    return out;
}

Gaussian rounded(const Gaussian &x, int bits) {
    if (is_zero(x)) return x;
    const std::int64_t unit = std::max(exponent_of(x.re), exponent_of(x.im)) - bits - 2;
    const auto part = [unit](const mpq_class &q) {
        const mpq_class scaled = shifted(q, -unit) + mpq_class(1, 2);
        mpz_class whole;
        mpz_fdiv_q(whole.get_mpz_t(), scaled.get_num_mpz_t(), scaled.get_den_mpz_t());
        return shifted(mpq_class(whole), unit);
    };
    return {part(x.re), part(x.im)};
}

Gaussian operator*(const Gaussian &x, const Gaussian &y) {
    if (is_real(x) && is_real(y)) return {x.re * y.re, 0};
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

Gaussian operator+(const Gaussian &x, const Gaussian &y) {
    if (is_real(x) && is_real(y)) return {x.re + y.re, 0};
    return {x.re + y.re, x.im + y.im};
}

Gaussian operator/(const Gaussian &x, const Gaussian &y) {
    if (is_real(x) && is_real(y)) return {x.re / y.re, 0};
    const mpq_class norm = y.re * y.re + y.im * y.im;
    return {(x.re * y.re + x.im * y.im) / norm, (x.im * y.re - x.re * y.im) / norm};
}

} // namespace libperm
