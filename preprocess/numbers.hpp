// The numbers of the reductions: with an account of their rounding errors, or exact.
#pragma once

#include <cstdint>
#include <gmpxx.h>

namespace libperm {

struct Tracked {
    double value = 0, magnitude = 0; // |value| <= magnitude < 1; magnitude >= 1/2, or 0: there is no number
    std::int64_t exp2 = 0;
    std::int32_t roundings = 0;
};

Tracked tracked(double x);
Tracked operator*(const Tracked &x, const Tracked &y);
Tracked operator+(const Tracked &x, const Tracked &y);
Tracked operator/(const Tracked &x, const Tracked &y); // y as it stands, without roundings; not 0

inline bool is_zero(const Tracked &x) { return x.value == 0 && x.roundings == 0; }

// A complex number with rational parts, an element of Q(i): what the reductions compute with where doubles
// are not enough. Every double is one.

struct Gaussian {
    mpq_class re, im;

    friend bool operator==(const Gaussian &x, const Gaussian &y) { return x.re == y.re && x.im == y.im; }
};

Gaussian operator*(const Gaussian &x, const Gaussian &y);
Gaussian operator+(const Gaussian &x, const Gaussian &y);
Gaussian operator/(const Gaussian &x, const Gaussian &y); // y is not 0

// The least e with |x| < 2^e, or one more; of 0 the least there is.
std::int64_t exponent_of(const mpq_class &x);

mpq_class shifted(const mpq_class &x, std::int64_t exp2); // x * 2^exp2

// Each part to so many bits of the larger one's, to nearest or next to it: within 2^-bits of |x|.
Gaussian rounded(const Gaussian &x, int bits);

// What a number holds, with the blocks of the allocator that its digits lie in.
std::int64_t integer_bytes(const mpz_class &x);
std::int64_t number_bytes(const Gaussian &x);

inline bool is_integer(const Gaussian &x) { return x.re.get_den() == 1 && x.im.get_den() == 1; }
inline bool is_real(const Gaussian &x) { return x.im == 0; }
inline bool is_zero(const Gaussian &x) { return x.re == 0 && x.im == 0; }

} // namespace libperm
