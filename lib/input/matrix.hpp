// From the caller's perm_csr to a checked pattern and values of the library's own.
#pragma once

#include "preprocess/gaussian.hpp"
#include "preprocess/memory_account.hpp"
#include "preprocess/pattern.hpp"

#include <perm.h>

#include <memory>
#include <vector>

namespace libperm {

struct InputPattern {
    Pattern pattern; // square, columns ascending in each row
    // Entry k of `pattern` was the caller's source[k], or that of `written`; empty: k itself. -1: of a row of
    // ones, see below.
    std::vector<std::int64_t> source;
    std::shared_ptr<const InputPattern>
        written; // as the caller did, if lines were repeated, left out or added
    perm_value_type value_type = PERM_VALUE_F64;
    // Of an m x n matrix: n - m rows of ones stand below it, and its permanent is that of the whole / (n -
    // m)!
    std::int32_t rows_of_ones = 0;
    bool repeats = false; // rows or columns were given with multiplicities
};

// The entries, in the pattern's order.
struct Values {
    std::vector<double> real;   // if they all fit
    std::vector<Gaussian> wide; // else

    bool empty() const { return real.empty() && wide.empty(); }
};

// What tells two matrices apart, in words; null where the same values stand for the same entries of both.
const char *difference(const InputPattern &x, const InputPattern &y);

// Throws Error (PERM_BAD_ARGUMENT, PERM_BAD_MATRIX, PERM_UNSUPPORTED) naming the row and column at fault.
// `account` (may be none) throws before what it cannot hold is copied.
InputPattern read_pattern(const perm_csr *a, const Poll &poll = no_poll, MemoryAccount *account = nullptr);

// Of any shape with no more rows than columns, as it was given: `pattern` is that, and there are no
// multiplicities.
InputPattern read_rectangle(const perm_csr *a, const Poll &poll = no_poll, MemoryAccount *account = nullptr);

Values read_values(const InputPattern &input, const void *values, const Poll &poll = no_poll,
                   MemoryAccount *account = nullptr);

// Leaves out the entries whose value is 0. Complex values that are all real become real.
void simplify(InputPattern &input, Values &values);

bool some_negative(const Values &values); // or not real
bool some_long(const Values &values);     // of more than 24 significant bits
bool some_complex(const Values &values);

} // namespace libperm
