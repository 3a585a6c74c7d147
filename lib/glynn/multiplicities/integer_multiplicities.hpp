// Few kinds of lines, each many times, as a matrix of whole numbers.
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/ryser/plan.hpp"

#include <perm.h>

#include <gmpxx.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace libperm {

// The caller's kinds of rows and columns, those that count 0 times left out, and one of rows of ones if it
// takes that to be square.
struct Sides {
    std::vector<EqualLines> rows, columns; // by the caller's numbers
    std::int64_t n = 0, ones = 0;
    double written = 0; // entries
};

// Empty for what is not to be told here: more lines than are counted, or what is at fault.
std::optional<Sides> read_sides(const perm_csr &a, const Pattern &pattern);

struct RowFactor {
    mpq_class by;
    std::int32_t count;
};

// Whole numbers, row by row, and how much smaller or larger the permanent became by that.
struct IntegerMultiplicities {
    Pattern pattern; // of lines that count, square, as many more as make its order as even as n
    std::vector<mpz_class> re, im;
    std::vector<RowFactor> factors;
    std::int64_t ones = 0;           // rows of them that make it square
    double bits = 0;                 // |re|, |im| of the permanent are below 2^bits
    std::int64_t nnz = 0;            // of the matrix written out
    std::vector<EqualLines> columns; // in the pattern
    RyserPlan plan;
};

IntegerMultiplicities integer_multiplicities_of(const Sides &kinds, const InputPattern &input,
                                                const Values &values, const Poll &poll);

// What the permanent of the whole numbers is to be multiplied by. About so many bits, which it is held in.
mpq_class factor_of(const IntegerMultiplicities &a, const Poll &poll);
double factor_bits(const IntegerMultiplicities &a);

} // namespace libperm
