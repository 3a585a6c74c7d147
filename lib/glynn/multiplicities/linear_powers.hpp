// The coefficient of a power of x in a product of powers of linear polynomials: the permanent of two kinds of
// lines.
#pragma once

#include "preprocess/limits.hpp"

#include <gmpxx.h>

#include <cstdint>
#include <vector>

namespace libperm {

struct GaussianInteger {
    mpz_class re, im;
};

struct LinearPower { // (slope x + constant)^exponent
    GaussianInteger slope, constant;
    std::int32_t exponent;
};

// The exact coefficient of x^degree. f = prod_i p_i^r_i has D f' = (sum_i r_i p_i' D / p_i) f, D = prod_i
// p_i: each coefficient follows from as many before it as there are different p_i. Throws what polling and
// the account do.
GaussianInteger coefficient(std::vector<LinearPower> powers, std::int64_t degree, MemoryAccount *account);

// What it takes on one thread, roughly.
double coefficient_seconds(const std::vector<LinearPower> &powers, std::int64_t degree);

} // namespace libperm
