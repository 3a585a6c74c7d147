#include "lib/bounds/block_bounds.hpp"

#include "lib/bounds/doubly_stochastic.hpp"
#include "lib/bounds/upper_bounds.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/wide_value.hpp"
#include "preprocess/matching.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace libperm {
namespace {

Scaled below(double mantissa, std::int64_t exp2) { return make_scaled(std::nextafter(mantissa, 0.0), exp2); }
Scaled above(double mantissa, std::int64_t exp2) {
    return make_scaled(std::nextafter(mantissa, infinity), exp2);
}

Interval around(double size, std::int64_t exp2, const Scaled &error) {
    if (error.mantissa == 0) return {make_scaled(size, exp2), make_scaled(size, exp2)};
    if (size == 0) return {{}, error};
    // Units are 2^exp2, and are rounded up: what is far below the last bit counts as a part of it.
    const std::int64_t apart = std::clamp<std::int64_t>(error.exp2 - exp2, -100, 1000);
    const double off = error.mantissa * power_of_two(static_cast<int>(apart));
    const double lower = size - off;
    return {lower > 0 ? below(lower, exp2) : Scaled{}, above(size + off, exp2)};
}

Scaled product(const Scaled &x, const Scaled &y, bool up) {
    if (x.mantissa == 0 || y.mantissa == 0) return {};
    const double mantissa = x.mantissa * y.mantissa; // at least 1/4, or infinite
    const std::int64_t exp2 = x.exp2 + y.exp2;
    if (!(mantissa < infinity) || std::fma(x.mantissa, y.mantissa, -mantissa) == 0)
        return make_scaled(mantissa, exp2);
    return up ? above(mantissa, exp2) : below(mantissa, exp2);
}

struct Best {
    double log2;
    const char *method;

    void rise(double bound, const char *of) { // not to a number that is none
        if (bound > log2) *this = {bound, of};
    }
    void fall(double bound, const char *of) {
        if (bound < log2) *this = {bound, of};
    }
};

std::optional<DoublyStochastic> certificate(const Magnitudes &m, std::vector<double> b) {
    correct_sums(m.pattern, b);
    return DoublyStochastic::near(m.pattern, b);
}

// This holds where nothing finer can be proven: a perfect matching's product, of entries near 1 if there is
// one.
double matching_below(const Magnitudes &m) {
    for (const double least : {0.5, std::numeric_limits<double>::min()}) {
        Pattern large{m.pattern.rows, m.pattern.cols, {0}, {}};
        std::size_t k = 0;
        for (std::int32_t i = 0; i < m.n(); ++i) {
            for (const std::int32_t j : m.pattern.row(i))
                if (m.lower[k++] >= least) large.col.push_back(j);
            large.row_ptr.push_back(std::ssize(large.col));
        }
        const Matching matching = maximum_matching(large);
        if (matching.size == m.n())
            return bethe_below(m, DoublyStochastic::of_matching(m.pattern, matching.col_of_row));
    }
    return -infinity;
}

} // namespace

Interval interval_of(const Ball &ball) {
    return around(std::fabs(ball.value.mantissa), ball.value.exp2, ball.error);
}

Interval interval_of(const WideBall &ball) {
    if (is_real(ball.value)) {
        const Tracked x = tracked_of(abs(ball.value.re));
        if (x.roundings == 0) return around(x.value, x.exp2, ball.error);
    }
    const Scaled size = size_of(ball.value); // too large by 2^-48 at most
    return {around(size.mantissa * (1 - 0x1p-47), size.exp2, ball.error).lower,
            around(size.mantissa, size.exp2, ball.error).upper};
}

Interval operator*(const Interval &x, const Interval &y) {
    return {product(x.lower, y.lower, false), product(x.upper, y.upper, true)};
}

Interval operator/(const Interval &x, const mpz_class &y) {
    const Tracked divisor = tracked_of(mpq_class(y));
    const auto quotient = [&](const Scaled &of, bool up) -> Scaled {
        const double mantissa = of.mantissa / divisor.value;
        const std::int64_t exp2 = of.exp2 - divisor.exp2;
        if (of.mantissa == 0 ||
            (divisor.roundings == 0 && std::fma(mantissa, divisor.value, -of.mantissa) == 0))
            return make_scaled(mantissa, exp2);
        return up ? above(mantissa * (1 + 0x1p-52), exp2) : below(mantissa * (1 - 0x1p-52), exp2);
    };
    return {quotient(x.lower, false), quotient(x.upper, true)};
}

double log2_gap(const Interval &x) {
    if (x.is_point()) return 0;
    if (x.lower.mantissa == 0) return infinity;
    return std::log2(x.upper.mantissa / x.lower.mantissa) + static_cast<double>(x.upper.exp2 - x.lower.exp2);
}

Bounded bounds_of_block(const Magnitudes &m) {
    Weights w{m.pattern, m.upper};
    if (m.of_one_sign)
        for (std::size_t k = 0; k < w.value.size(); ++k)
            if (m.lower[k] == 0) w.value[k] = 0;
    const Balanced scaled = balanced(w);
    const Beliefs found = beliefs(w, scaled);

    Best lower{-infinity, "none"}, upper{infinity, "none"};
    if (m.of_one_sign) {
        for (const std::vector<double> *b : {&scaled.entry, &found.entry})
            if (const auto exactly = certificate(m, *b)) {
                lower.rise(gurvits_below(m, *exactly), "gurvits");
                lower.rise(bethe_below(m, *exactly), "bethe");
            }
        if (lower.log2 == -infinity) lower.rise(matching_below(m), "matching");
    }
    upper.fall(soules_above(m, scaled), "soules");
    upper.fall(nesting_above(m), "nesting");
    upper.fall(bethe_above(m, found), "bethe");
    if (!m.of_one_sign) upper.fall(norm_above(m), "norm");
    return {{power_of_two_below(lower.log2, m.exp2), power_of_two_above(upper.log2, m.exp2)},
            lower.method,
            upper.method};
}

} // namespace libperm
