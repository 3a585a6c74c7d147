// From the caller's perm_csr to a checked pattern and values of the library's own.
#pragma once

#include "preprocess/pattern.hpp"

#include <perm.h>

#include <vector>

namespace libperm {

struct InputPattern {
    Pattern pattern; // square, columns ascending in each row
    std::vector<std::int64_t>
        entry_order; // entry k of `pattern` was the caller's entry_order[k]; empty: k itself
    perm_value_type value_type = PERM_VALUE_F64;
};

// Throws Error (PERM_BAD_ARGUMENT, PERM_BAD_MATRIX, PERM_UNSUPPORTED) naming the row and column at fault.
InputPattern read_pattern(const perm_csr *a);

// The values in the pattern's order, as doubles; integers beyond 2^53 are PERM_UNSUPPORTED.
std::vector<double> read_values(const InputPattern &input, const void *values);

// Leaves out the entries whose value is 0.
void drop_zeros(Pattern &pattern, std::vector<double> &values);

} // namespace libperm
