#include "tests/support/gaussian_calls.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

using libperm::Gaussian;
using oracle::GaussianMatrix;

namespace {

// "12", "-1/3", "1.25e-07": all of it.
mpq_class part_of(const std::string &text) {
    const std::size_t e = text.find('e');
    if (e == text.npos) return mpq_class(text, 10);
    std::string digits = text.substr(0, e);
    long exponent = std::stol(text.substr(e + 1));
    if (const std::size_t point = digits.find('.'); point != digits.npos) {
        exponent -= static_cast<long>(digits.size() - point - 1);
        digits.erase(point, 1);
    }
    mpz_class power;
    mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(std::labs(exponent)));
    const mpz_class whole(digits, 10);
    return exponent < 0 ? mpq_class(whole) / power : mpq_class(whole * power);
}

} // namespace

Gaussian number_of(const std::string &text) {
    if (text.back() != 'i') return {part_of(text), 0};
    std::size_t sign = text.size() - 1;
    do sign = text.find_last_of("+-", sign - 1);
    while (text[sign - 1] == 'e');
    std::string im = text.substr(sign, text.size() - 1 - sign);
    if (im.front() == '+') im.erase(0, 1);
    return {part_of(text.substr(0, sign)), part_of(im)};
}

Given given(const GaussianMatrix &a, As as) {
    Given g;
    for (const auto &row : a) {
        for (std::size_t j = 0; j < row.size(); ++j) {
            if (libperm::is_zero(row[j])) continue;
            g.col_idx.push_back(static_cast<std::int64_t>(j));
            g.complex.push_back(row[j].re.get_d());
            g.complex.push_back(row[j].im.get_d());
            std::string text = row[j].re.get_str();
            if (row[j].im != 0) text.append(" ").append(row[j].im.get_str());
            g.texts.push_back(std::move(text));
        }
        g.row_ptr.push_back(static_cast<std::int64_t>(g.col_idx.size()));
    }
    for (const std::string &text : g.texts) g.pointers.push_back(text.c_str());
    g.csr.n_rows = static_cast<std::int64_t>(a.size());
    g.csr.n_cols = a.empty() ? 0 : static_cast<std::int64_t>(a[0].size());
    g.csr.nnz = static_cast<std::int64_t>(g.col_idx.size());
    g.csr.row_ptr = g.row_ptr.data();
    g.csr.col_idx = g.col_idx.data();
    g.csr.value_type = as == As::text ? PERM_VALUE_TEXT : PERM_VALUE_C128;
    g.csr.values = as == As::text ? static_cast<const void *>(g.pointers.data()) : g.complex.data();
    return g;
}

perm_opts in_precision(const char *engine, const char *precision, const char *device) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = engine;
    opts.device = device;
    opts.precision = precision;
    return opts;
}

// It is the text that the bounds are of.
void check_gaussian(const perm_result &r, const Gaussian &truth) {
    REQUIRE(r.text != nullptr);
    CAPTURE(std::string(r.text));
    CAPTURE(r.engine);
    CAPTURE(r.rel_error_bound);
    const Gaussian value = number_of(r.text);
    const mpq_class size = truth.re * truth.re + truth.im * truth.im;
    const auto squared_error = [&](const Gaussian &x) {
        return mpq_class((x.re - truth.re) * (x.re - truth.re) + (x.im - truth.im) * (x.im - truth.im));
    };
    CHECK((r.exact == 1) == (r.rel_error_bound == 0));
    if (r.exact != 0) CHECK(value == truth);
    if (std::isfinite(r.rel_error_bound)) {
        const mpq_class bound = mpq_class(r.rel_error_bound);
        CHECK(squared_error(value) <= bound * bound * size);
        const bool in_range =
            std::isfinite(r.re) && std::isfinite(r.im) && size > mpq_class(0x1p-1000) * mpq_class(0x1p-900);
        if (!in_range) return; // of double
        const mpq_class doubles = mpq_class(r.rel_error_bound) + mpq_class(0x1p-52);
        CHECK(squared_error({mpq_class(r.re), mpq_class(r.im)}) <= doubles * doubles * size);
    }
}
