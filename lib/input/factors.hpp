// From the caller's perm_factors to checked numbers of the library's own.
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/limits.hpp"

#include <perm.h>

#include <string>

namespace libperm {

// Of A = U V^T: n x rank each, every entry there.
struct Factors {
    ExactBlock u, v;
    perm_value_type value_type = PERM_VALUE_F64;
    std::string digest; // of all that was given
    Charge charge;      // of the numbers
};

// Throws Error (PERM_BAD_ARGUMENT, PERM_BAD_MATRIX, PERM_UNSUPPORTED) naming the factor, row and column at
// fault.
Factors read_factors(const perm_factors *given, MemoryAccount *account = nullptr);

} // namespace libperm
