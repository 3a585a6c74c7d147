#include "lib/number/wide_value.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace libperm {
namespace {

// The nearest double to x * 2^-exp2.
double nearest(const mpq_class &x, std::int64_t exp2) {
    if (x == 0) return 0;
    mpz_class num = abs(x.get_num()), den = x.get_den();
    // A quotient of 64 bits or 65, with what is left over told in its last bit.
    const auto bits = [](const mpz_class &z) {
        return static_cast<std::int64_t>(mpz_sizeinbase(z.get_mpz_t(), 2));
    };
    const std::int64_t shift = 64 - (bits(num) - bits(den));
    if (shift > 0)
        num <<= static_cast<mp_bitcnt_t>(shift);
    else
        den <<= static_cast<mp_bitcnt_t>(-shift);
    mpz_class quotient, rest;
    mpz_fdiv_qr(quotient.get_mpz_t(), rest.get_mpz_t(), num.get_mpz_t(), den.get_mpz_t());
    // Beyond 53 bits: to nearest, ties to even.
    const std::int64_t more = bits(quotient) - 53;
    mpz_class kept = quotient >> static_cast<mp_bitcnt_t>(more);
    const mpz_class cut = quotient - (kept << static_cast<mp_bitcnt_t>(more));
    const mpz_class half = mpz_class(1) << static_cast<mp_bitcnt_t>(more - 1);
    const int side = cmp(cut, half);
    if (side > 0 || (side == 0 && (rest != 0 || mpz_odd_p(kept.get_mpz_t())))) ++kept;
    const double value = std::ldexp(
        kept.get_d(), static_cast<int>(std::clamp<std::int64_t>(more - shift - exp2, -5000, 5000)));
    return x < 0 ? -value : value;
}

} // namespace

Parts parts_of(const Gaussian &x, std::int64_t exp2, Arithmetic arithmetic) {
    Parts parts{};
    const auto split = [&](const mpq_class &q, std::size_t to) {
        parts[to] = nearest(q, exp2);
        if (is_dd(arithmetic) && std::isfinite(parts[to]))
            parts[to + 1] = nearest(q - shifted(mpq_class(parts[to]), exp2), exp2);
    };
    split(x.re, 0);
    split(x.im, 2);
    return parts;
}

Gaussian exact_of(const Parts &parts, std::int64_t exp2) {
    return {shifted(mpq_class(parts[0]) + mpq_class(parts[1]), exp2),
            shifted(mpq_class(parts[2]) + mpq_class(parts[3]), exp2)};
}

Tracked tracked_of(const mpq_class &x) {
    if (x == 0) return {};
    if (x.get_den() == 1 && mpz_sizeinbase(x.get_num_mpz_t(), 2) <= 53) return tracked(x.get_num().get_d());
    const std::int64_t exp2 = exponent_of(x);
    const double mantissa = nearest(x, exp2);
    Tracked number = tracked(mantissa);
    number.exp2 += exp2;
    number.roundings = shifted(mpq_class(mantissa), exp2) == x ? 0 : 1;
    return number;
}

std::int64_t bytes_made_exact(const Block &block) {
    constexpr std::int64_t of_an_entry = 170;
    std::int64_t bytes = of_an_entry * block.pattern.nnz();
    for (const Tracked &x : block.values) bytes += std::abs(x.exp2) / 8;
    return bytes;
}

ExactBlock exact_block(const Block &block) {
    ExactBlock exact{block.pattern, {}};
    exact.values.reserve(block.values.size());
    for (const Tracked &x : block.values) exact.values.push_back({shifted(mpq_class(x.value), x.exp2), 0});
    return exact;
}

Tracked magnitude_of(const Gaussian &x) {
    if (is_real(x)) {
        Tracked size = tracked_of(abs(x.re));
        if (size.roundings > 0) size = size * tracked(1 + 0x1p-51); // up
        size.roundings = std::min(size.roundings, 1);
        return size;
    }
    const std::int64_t exp2 = std::max(exponent_of(x.re), exponent_of(x.im));
    Tracked size = tracked(std::hypot(nearest(x.re, exp2), nearest(x.im, exp2)) * (1 + 0x1p-51));
    size.exp2 += exp2;
    size.roundings = 1;
    return size;
}

Tracked magnitude_of(const mpz_class &x) {
    constexpr std::size_t of_double = 53; // bits
    if (mpz_sizeinbase(x.get_mpz_t(), 2) <= of_double) return tracked(std::fabs(x.get_d()));
    return magnitude_of({mpq_class(x), 0});
}

Block magnitudes_of(const ExactBlock &block) {
    Block out{block.pattern, {}};
    out.values.reserve(block.values.size());
    for (const Gaussian &x : block.values) out.values.push_back(magnitude_of(x));
    return out;
}

} // namespace libperm
