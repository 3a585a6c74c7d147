#include "lib/number/wide_value.hpp"

#include "lib/number/mpfr_number.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace libperm {
namespace {

// The nearest double to x * 2^-exp2.
double nearest(const mpq_class &x, std::int64_t exp2) {
    MpfrNumber value(53);
    mpfr_set_q(value, x.get_mpq_t(), MPFR_RNDN);
    mpfr_mul_2si(value, value, static_cast<long>(-exp2), MPFR_RNDN);
    return mpfr_get_d(value, MPFR_RNDN);
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

namespace {

bool has_part(Arithmetic arithmetic, std::size_t part) {
    return (part < 2 || is_complex(arithmetic)) && (part % 2 == 0 || is_dd(arithmetic));
}

} // namespace

PackedParts packed(const Parts &parts, Arithmetic arithmetic) {
    PackedParts out{};
    std::size_t count = 0;
    for (std::size_t k = 0; k < parts.size(); ++k)
        if (has_part(arithmetic, k)) out[count++] = parts[k];
    return out;
}

Parts unpacked(const PackedParts &parts, Arithmetic arithmetic) {
    Parts out{};
    std::size_t count = 0;
    for (std::size_t k = 0; k < out.size(); ++k)
        if (has_part(arithmetic, k)) out[k] = parts[count++];
    return out;
}

WideEntries in_complex_dd(WideEntries entries) {
    for (PackedParts &parts : entries.parts)
        parts = packed(unpacked(parts, entries.arithmetic), Arithmetic::complex_dd);
    entries.arithmetic = Arithmetic::complex_dd;
    return entries;
}

WideEntries wide_entries(const ExactBlock &block, Arithmetic arithmetic, bool scaled) {
    PolledSteps steps;
    WideEntries entries{arithmetic, !is_complex(arithmetic), magnitudes_of(block), {}, 0};
    entries.parts.reserve(block.values.size());
    for (std::size_t k = 0; k < block.values.size(); ++k) {
        steps.take(64);
        const Gaussian &x = block.values[k];
        entries.parts.push_back(
            packed(parts_of(x, entries.magnitudes.values[k].exp2, arithmetic), arithmetic));
        entries.nonnegative = entries.nonnegative && x.re >= 0;
    }
    if (scaled) entries.exp2 = scale(entries.magnitudes);
    return entries;
}

} // namespace libperm
