#include "lib/polynomial/circle.hpp"

#include "lib/number/mpfr_number.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

struct Whole {
    mpz_class re, im;
};

// x 2^shift, cut off.
mpz_class cut(const mpq_class &x, std::int64_t shift) {
    const mpq_class y = shifted(x, shift);
    mpz_class whole;
    mpz_tdiv_q(whole.get_mpz_t(), y.get_num_mpz_t(), y.get_den_mpz_t());
    return whole;
}

double as_double(const mpz_class &x, unsigned long bits) { // of x 2^-bits, cut off
    signed long exp2 = 0;
    const double mantissa = mpz_get_d_2exp(&exp2, x.get_mpz_t());
    return std::ldexp(mantissa, static_cast<int>(exp2) - static_cast<int>(bits));
}

} // namespace

Circle::Circle(std::size_t points, std::int64_t exp2, bool real, const Poll &poll)
    : cosines_(points), sines_(points), points_(points), exp2_(exp2), real_(real) {
    MpfrNumber angle(bits + 64), x(bits + 64);
    PolledSteps steps(poll);
    constexpr std::int64_t of_a_point = 8192;
    for (std::size_t j = 0; j < points; ++j) {
        steps.take(of_a_point);
        mpfr_const_pi(angle, MPFR_RNDN);
        mpfr_mul_ui(angle, angle, 2 * j, MPFR_RNDN);
        mpfr_div_ui(angle, angle, points, MPFR_RNDN);
        const auto fixed = [&](mpz_class &to) {
            mpfr_mul_2ui(x, x, bits, MPFR_RNDN);
            mpfr_get_z(to.get_mpz_t(), x, MPFR_RNDN);
        };
        mpfr_cos(x, angle, MPFR_RNDN);
        fixed(cosines_[j]);
        mpfr_sin(x, angle, MPFR_RNDN);
        fixed(sines_[j]);
    }
}

double Circle::cosine(std::size_t j) const { return as_double(cosines_[j], bits); }
double Circle::sine(std::size_t j) const { return as_double(sines_[j], bits); }

Gaussian Circle::root(std::size_t j) const {
    constexpr unsigned long kept = 129;
    const auto part = [](const mpz_class &x) {
        return shifted(mpq_class(mpz_class(x >> (bits - kept))), -static_cast<std::int64_t>(kept));
    };
    return {part(cosines_[j]), part(sines_[j])};
}

// In fixed point, the largest value having twice as many bits as the roots: what is cut off, and what these
// are rounded by, is less than 2^(8 - bits) of the sum of the absolute values.
std::vector<WideBall> Circle::coefficients(const std::vector<WideBall> &values, const Poll &poll) const {
    const auto mirrored = [&](std::size_t j) { return real_ && j != 0 && 2 * j != points_; };
    WideBall all; // the sum of the sizes, and of the errors
    std::int64_t highest = 0;
    bool is_zero_all = true;
    for (std::size_t j = 0; j < values.size(); ++j) {
        const Scaled size = size_of(values[j].value);
        const Gaussian wide_size{shifted(mpq_class(size.mantissa), size.exp2), 0};
        for (int times = mirrored(j) ? 2 : 1; times > 0; --times)
            all = all + WideBall{wide_size, values[j].error};
        if (size.mantissa == 0) continue;
        highest = is_zero_all ? size.exp2 : std::max(highest, size.exp2);
        is_zero_all = false;
    }
    const std::int64_t shift = static_cast<std::int64_t>(2 * bits) - highest;
    std::vector<Whole> whole;
    for (const WideBall &x : values) whole.push_back({cut(x.value.re, shift), cut(x.value.im, shift)});
    const Gaussian share{shifted(all.value.re, 8 - static_cast<std::int64_t>(bits)), 0};
    const Scaled cut_off = size_of(share);
    const Scaled error = (Ball{{}, all.error} + Ball{{}, cut_off}).error;

    std::vector<WideBall> out;
    PolledSteps steps(poll);
    for (std::size_t k = 0; k < points_; ++k) {
        Whole sum;
        for (std::size_t j = 0; j < whole.size(); ++j) {
            steps.take(64);
            const std::size_t angle = j * k % points_;
            const mpz_class &c = cosines_[angle], &s = sines_[angle]; // of w^(-j k): c - i s
            const mpz_class re = whole[j].re * c + whole[j].im * s;
            sum.re += mirrored(j) ? mpz_class(2 * re) : re;
            if (!real_) sum.im += whole[j].im * c - whole[j].re * s;
        }
        const std::int64_t back =
            -shift - static_cast<std::int64_t>(bits) - static_cast<std::int64_t>(k) * exp2_;
        const Gaussian value{shifted(mpq_class(sum.re), back), shifted(mpq_class(sum.im), back)};
        const Scaled scaled{error.mantissa, error.exp2 - static_cast<std::int64_t>(k) * exp2_};
        out.push_back(WideBall{value, scaled} / mpz_class(static_cast<unsigned long>(points_)));
    }
    return out;
}

} // namespace libperm
