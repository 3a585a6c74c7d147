// Factors of A = U V^T as whole numbers, and how large its permanent can be.
#pragma once

#include "lib/number/integer_block.hpp"

namespace libperm {

struct IntegerFactors {
    IntegerBlock u, v;  // n x rank each, every entry there; times both factors the permanent is that of A
    bool has_zero_line; // of one of them

    std::int32_t n() const { return u.pattern.rows; }
    std::int32_t rank() const { return u.pattern.cols; }
    bool is_gaussian() const { return !u.im.empty() || !v.im.empty(); }
};

// Without the columns that are 0 in one of them or a multiple of another there; rows without a divisor in
// common.
IntegerFactors integer_factors(ExactBlock u, ExactBlock v);

// b with |re|, |im| < 2^b for the parts of the permanent of the whole numbers, for certain.
std::int64_t permanent_bits(const IntegerFactors &factors);

} // namespace libperm
