// Kronecker's substitution: the coefficients of a polynomial are the digits of its value at a power of two
// that is longer than any of them.
#pragma once

#include "lib/number/scaled.hpp"
#include "preprocess/poll.hpp"

#include <cstddef>
#include <gmpxx.h>
#include <vector>

namespace libperm {

// The c_k of sum = sum_k c_k 2^(b k), |c_k| < 2^(b - 1), b = bits. Throws Error where they are not all.
std::vector<mpz_class> digits_of(mpz_class sum, std::size_t count, unsigned long bits, const Poll &poll);

mpq_class exact_number(const Scaled &x);

} // namespace libperm
