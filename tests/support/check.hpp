// Holds a result of the library against the exact permanent, and results against each other.
#pragma once

#include "tests/support/oracle.hpp"

#include <perm.hpp>

#include <string>

// mantissa * 2^exp2 of a result, exactly.
oracle::Exact value_of(const perm_result &r);

// Everything perm.h promises about a result, given the true permanent: the error is below the bound, `exact`
// means equal, mantissa and exponent are normalised, `re` is their value in double, the text has the right
// digits. With doctest's CHECK.
void check_result(const perm_result &r, const oracle::Exact &truth);

// check_result, and the requirement on matrices without negative entries: a relative error of at most 1e-13.
void check_nonnegative_result(const perm_result &r, const oracle::Exact &truth);

// Nothing but the times may differ.
void check_same_bits(const perm_result &a, const perm_result &b);
// Of complex results too, with the absolute bound.
void check_same_answer(const perm_result &a, const perm_result &b);

// A number known up to a radius, to check identities between results that are not exact.
struct Ball {
    oracle::Exact middle, radius;

    Ball(const oracle::Exact &number) : middle(number), radius(0) {}
    // Where perm(A) must lie: |value - perm| <= bound |perm|. Only for results whose bound is below 1.
    explicit Ball(const perm_result &r);
};
Ball operator+(const Ball &a, const Ball &b);
Ball operator*(const Ball &a, const Ball &b);
bool overlap(const Ball &a, const Ball &b);

// The bound tells something: what makes a Ball of a result possible.
bool informative(const perm_result &r);

// The matrix in words for a failure's message: small ones in full, with every bit of the values.
std::string describe(const perm::Csr &a);

// "auto" with all its reductions; "ryser", ... alone, on the matrix as it is.
perm_opts with_engine(const char *engine);
