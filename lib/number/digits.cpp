#include "lib/number/digits.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace libperm {
namespace {

__extension__ using UInt128 = unsigned __int128;

constexpr std::uint64_t of_16_digits = 10000000000000000, of_17_digits = 10 * of_16_digits; // 10^16, 10^17

constexpr auto powers_of_5 = [] {
    std::array<UInt128, 56> powers{1}; // 5^55 < 2^128
    for (std::size_t k = 1; k < powers.size(); ++k) powers[k] = 5 * powers[k - 1];
    return powers;
}();

constexpr auto pairs = [] { // "00", "01", ... "99"
    std::array<char, 200> text{};
    for (std::size_t k = 0; k < 100; ++k) {
        text[2 * k] = static_cast<char>('0' + k / 10);
        text[2 * k + 1] = static_cast<char>('0' + k % 10);
    }
    return text;
}();

void write_pair(std::uint64_t x, char *to) {
    to[0] = pairs[2 * x];
    to[1] = pairs[2 * x + 1];
}

// mantissa * 2^exp2 * 10^power to the nearest integer, the even one of two; it is below 2^63.
std::uint64_t rounded_product(std::uint64_t mantissa, int exp2, int power) {
    const UInt128 factor = powers_of_5[static_cast<std::size_t>(power)];
    const UInt128 low = static_cast<UInt128>(mantissa) * static_cast<std::uint64_t>(factor);
    const UInt128 high =
        static_cast<UInt128>(mantissa) * static_cast<std::uint64_t>(factor >> 64) + (low >> 64);
    const auto last = static_cast<std::uint64_t>(low); // the product is high * 2^64 + last
    const int shift = -(exp2 + power);
    if (shift <= 0) return last << -shift;
    std::uint64_t whole = 0;
    UInt128 rest = 0, half = 0; // of a unit; sticky: whether there is more of it
    bool sticky = false;
    if (shift < 64) {
        whole = static_cast<std::uint64_t>(high << (64 - shift)) | last >> shift;
        rest = last & ((std::uint64_t{1} << shift) - 1);
        half = UInt128{1} << (shift - 1);
    } else if (shift == 64) {
        whole = static_cast<std::uint64_t>(high);
        rest = last;
        half = UInt128{1} << 63;
    } else {
        whole = static_cast<std::uint64_t>(high >> (shift - 64));
        rest = high & ((UInt128{1} << (shift - 64)) - 1);
        half = UInt128{1} << (shift - 65);
        sticky = last != 0;
    }
    const bool is_above = rest > half || (rest == half && (sticky || (whole & 1) != 0));
    return whole + (is_above ? 1 : 0);
}

} // namespace

char *write_17_digits(double x, char *to) {
    const double size = std::fabs(x);
    if (!(size >= 1e-38 && size < 1e17)) return nullptr;
    const auto bits = std::bit_cast<std::uint64_t>(size);
    const int exp2 = static_cast<int>(bits >> 52) - 1075;
    const std::uint64_t mantissa = (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
    int exp10 = ((exp2 + 52) * 78913) >> 18; // of 10, by log10(2): it, or one too few
    std::uint64_t digits = rounded_product(mantissa, exp2, 16 - exp10);
    if (digits >= of_17_digits) digits = rounded_product(mantissa, exp2, 16 - ++exp10);
    if (digits == of_17_digits) {
        digits = of_16_digits;
        ++exp10;
    }
    if (x < 0) *to++ = '-';
    to[0] = static_cast<char>('0' + digits / of_16_digits);
    to[1] = '.';
    std::uint64_t left = digits % of_16_digits;
    const std::uint64_t eights[] = {left / 100000000, left % 100000000};
    for (int k = 0; k < 2; ++k) {
        std::uint64_t eight = eights[k];
        for (int pair = 3; pair >= 0; --pair, eight /= 100)
            write_pair(eight % 100, to + 2 + 8 * k + 2 * pair);
    }
    to[18] = 'e';
    to[19] = exp10 < 0 ? '-' : '+';
    write_pair(static_cast<std::uint64_t>(exp10 < 0 ? -exp10 : exp10), to + 20);
    return to + 22;
}

} // namespace libperm
