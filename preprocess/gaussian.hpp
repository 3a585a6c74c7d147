// A complex number with rational parts, an element of Q(i): what the reductions compute with where doubles
// are not enough. Every double is one.
#pragma once

#include <gmpxx.h>

#include <cstdint>

namespace libperm {

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
