#include "tests/support/check.hpp"

#include <doctest/doctest.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using oracle::Exact;

namespace {

// Beyond this no test's permanent lies, and exact arithmetic on it would take all memory.
constexpr std::int64_t absurd_exponent = 1'000'000;

// A decimal number: sign, digits without leading and trailing zeros, value 0.digits * 10^exp10. Zero: no
// digits.
struct Decimal {
    bool negative = false;
    std::string digits;
    long exp10 = 0;

    bool operator==(const Decimal &) const = default;
};

Decimal strip(Decimal d) {
    const std::size_t first = std::min(d.digits.find_first_not_of('0'), d.digits.size());
    d.digits.erase(0, first);
    d.exp10 -= static_cast<long>(first);
    d.digits.erase(d.digits.find_last_not_of('0') + 1);
    if (d.digits.empty()) d = Decimal{};
    return d;
}

// Reads -123.45e-6 and the like; anything else gives a Decimal with the digits "?".
Decimal read_decimal(const std::string &text) {
    Decimal d;
    std::size_t i = 0;
    d.negative = !text.empty() && text[0] == '-';
    if (d.negative) ++i;
    bool point = false;
    for (; i < text.size() && text[i] != 'e'; ++i) {
        if (text[i] == '.' && !point) {
            point = true;
        } else if (text[i] >= '0' && text[i] <= '9') {
            d.digits += text[i];
            if (!point) ++d.exp10;
        } else {
            return {false, "?", 0};
        }
    }
    if (d.digits.empty()) return {false, "?", 0};
    if (i < text.size()) {
        char *end = nullptr;
        d.exp10 += std::strtol(text.c_str() + i + 1, &end, 10);
        if (*end != '\0' || end == text.c_str() + i + 1) return {false, "?", 0};
    }
    return strip(d);
}

// x rounded to 17 significant digits. x must have few bits (a double's).
Exact exactly(const Decimal &d) {
    Exact x(d.digits.empty() ? "0" : d.digits, 10);
    mpz_class power;
    const auto shift = d.exp10 - static_cast<long>(d.digits.size());
    mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(std::labs(shift)));
    if (shift >= 0)
        x *= Exact(power);
    else
        x /= Exact(power);
    return d.negative ? Exact(-x) : x;
}

Decimal to_17_digits(const Exact &x) {
    if (x == 0) return {};
    mpfr_t number;
    mpfr_init2(number, 64);
    mpfr_set_q(number, x.get_mpq_t(), MPFR_RNDN);
    mpfr_exp_t exp10 = 0;
    char *digits = mpfr_get_str(nullptr, &exp10, 10, 17, number, MPFR_RNDN);
    Decimal d;
    d.negative = digits[0] == '-';
    d.digits = digits + (d.negative ? 1 : 0);
    d.exp10 = exp10;
    mpfr_free_str(digits);
    mpfr_clear(number);
    return strip(d);
}

// |value - truth| <= bound |truth|
bool within(const Exact &value, const Exact &truth, double bound) {
    return abs(value - truth) <= Exact(bound) * abs(truth);
}

// For messages only.
double relative_error(const Exact &value, const Exact &truth) {
    if (value == truth) return 0.0;
    return truth == 0 ? INFINITY : Exact(abs(value - truth) / abs(truth)).get_d();
}

} // namespace

Exact value_of(const perm_result &r) {
    Exact x(r.mantissa_re);
    if (r.exp2 >= 0)
        mpq_mul_2exp(x.get_mpq_t(), x.get_mpq_t(), static_cast<mp_bitcnt_t>(r.exp2));
    else
        mpq_div_2exp(x.get_mpq_t(), x.get_mpq_t(), static_cast<mp_bitcnt_t>(-r.exp2));
    return x;
}

void check_result(const perm_result &r, const Exact &truth) {
    INFO("engine ", r.engine ? r.engine : "NULL", ", text ", r.text ? r.text : "NULL", ", bound ",
         r.rel_error_bound);
    REQUIRE(std::isfinite(r.mantissa_re));
    REQUIRE(std::abs(r.exp2) < absurd_exponent);
    REQUIRE(r.text != nullptr);
    const Exact mantissa = value_of(r);
    const Decimal text = read_decimal(r.text);
    const Exact value = exactly(text); // it is the text that the bounds are of
    INFO("relative error ", relative_error(value, truth));
    const std::string all(r.text);
    const auto digits = std::count_if(all.begin(), std::find(all.begin(), all.end(), 'e'),
                                      [](char c) { return c >= '0' && c <= '9'; });
    CHECK(within(mantissa, value, 0x1p-53));

    CHECK(r.rel_error_bound >= 0.0); // not NaN either
    if (std::isfinite(r.rel_error_bound)) {
        CHECK(within(value, truth, r.rel_error_bound));
        CHECK(within(mantissa, truth, r.rel_error_bound + 0x1p-52));
    }
    CHECK(r.abs_error_bound >= 0.0);
    if (std::isfinite(r.abs_error_bound)) CHECK(abs(value - truth) <= Exact(r.abs_error_bound));
    CHECK((r.exact == 1) == (r.rel_error_bound == 0.0));
    CHECK((r.exact == 1) == (r.abs_error_bound == 0.0));
    if (r.exact != 0) CHECK(value == truth);

    const double size = std::fabs(r.mantissa_re);
    CHECK(((size >= 0.5 && size < 1.0) || (size == 0.0 && r.exp2 == 0)));
    CHECK(r.mantissa_im == 0.0);
    CHECK(r.im == 0.0);
    CHECK(r.re == std::ldexp(r.mantissa_re, static_cast<int>(r.exp2)));

    if (r.exact != 0 && truth.get_den() == 1)
        CHECK(std::string(r.text) == truth.get_num().get_str());
    else if (r.exact == 0 && digits == 17 && r.rel_error_bound >= 2.6e-16)
        CHECK_MESSAGE(text == to_17_digits(mantissa), std::string(r.text));
}

void check_nonnegative_result(const perm_result &r, const Exact &truth) {
    check_result(r, truth);
    const double error = relative_error(value_of(r), truth);
    CHECK(error <= 1e-13);
}

void check_same_bits(const perm_result &a, const perm_result &b) {
    const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
    CHECK(bits(a.re) == bits(b.re));
    CHECK(bits(a.mantissa_re) == bits(b.mantissa_re));
    CHECK(a.exp2 == b.exp2);
    CHECK(bits(a.rel_error_bound) == bits(b.rel_error_bound));
    CHECK(a.exact == b.exact);
    CHECK(std::string(a.text ? a.text : "NULL") == std::string(b.text ? b.text : "NULL"));
}

void check_same_answer(const perm_result &a, const perm_result &b) {
    const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
    check_same_bits(a, b);
    CHECK(bits(a.im) == bits(b.im));
    CHECK(bits(a.mantissa_im) == bits(b.mantissa_im));
    CHECK(bits(a.abs_error_bound) == bits(b.abs_error_bound));
    CHECK(a.tolerance_met == b.tolerance_met);
    CHECK(std::string(a.engine) == b.engine);
    CHECK((a.n == b.n && a.nnz == b.nnz && a.blocks == b.blocks && a.blocks_computed == b.blocks_computed));
}

bool informative(const perm_result &r) { return r.rel_error_bound < 1.0; }

// |value - perm| <= b |perm| and so |perm| <= |value| / (1 - b).
Ball::Ball(const perm_result &r) : middle(value_of(r)) {
    const Exact bound(r.rel_error_bound);
    radius = abs(middle) * (bound / (1 - bound) + Exact(0x1p-52)); // the double may be rounded once more
}

Ball operator+(const Ball &a, const Ball &b) {
    Ball sum(a.middle + b.middle);
    sum.radius = a.radius + b.radius;
    return sum;
}

Ball operator*(const Ball &a, const Ball &b) {
    Ball product(a.middle * b.middle);
    product.radius = abs(a.middle) * b.radius + abs(b.middle) * a.radius + a.radius * b.radius;
    return product;
}

bool overlap(const Ball &a, const Ball &b) { return abs(a.middle - b.middle) <= a.radius + b.radius; }

std::string describe(const perm::Csr &a) {
    std::string text = std::to_string(a.n_rows) + " x " + std::to_string(a.n_cols) + ", " +
                       std::to_string(a.col_idx.size()) + " entries";
    if (a.n_rows > 16) return text;
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.n_rows); ++i)
        for (auto k = static_cast<std::size_t>(a.row_ptr[i]); k < static_cast<std::size_t>(a.row_ptr[i + 1]);
             ++k) {
            char entry[80];
            std::snprintf(entry, sizeof entry, "%s(%zu,%d) %a", k % 8 == 0 ? "\n" : "  ", i,
                          static_cast<int>(a.col_idx[k]), a.pattern ? 1.0 : a.values[k]);
            text += entry;
        }
    return text;
}

perm_opts with_engine(const char *engine) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = engine;
    if (std::string(engine) != "auto") opts.without = "all";
    return opts;
}
