// The library's numbers with exponents of their own as rationals.
#pragma once

#include "lib/number/scaled.hpp"
#include "preprocess/numbers.hpp"
#include "tests/support/oracle.hpp"

inline oracle::Exact times_power(oracle::Exact q, std::int64_t exp2) {
    if (exp2 >= 0)
        mpq_mul_2exp(q.get_mpq_t(), q.get_mpq_t(), static_cast<mp_bitcnt_t>(exp2));
    else
        mpq_div_2exp(q.get_mpq_t(), q.get_mpq_t(), static_cast<mp_bitcnt_t>(-exp2));
    return q;
}

inline oracle::Exact exactly(const libperm::Scaled &x) {
    return times_power(oracle::Exact(x.mantissa), x.exp2);
}
inline oracle::Exact exactly(const libperm::Tracked &x) {
    return times_power(oracle::Exact(x.value), x.exp2);
}
