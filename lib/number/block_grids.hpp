// The entries of a block on a grid, as sums over subsets and residues take them: rows of doubles whose sums
// stay below 1, numbers in fixed point, and whole numbers.
#pragma once

#include "lib/number/scaled.hpp"
#include "preprocess/block.hpp"

#include <cstdint>
#include <gmpxx.h>
#include <vector>

namespace libperm {

struct ScaledRow {
    std::int64_t exp2 = 0; // its entries are 2 to this times what they are here
    double absolute = 0;   // the sum of their absolute values, in [1/2, 1), or 0
    int unit = 0;          // half of each is a multiple of 2^unit

    double value(const Tracked &x) const; // of an entry; one that is tiny beside its row may lose bits
};
ScaledRow scaled_row(const Block &block, std::int32_t row);

struct ScaledRows {
    std::vector<double> value;    // by entry of the pattern
    std::vector<double> absolute; // by row
    std::vector<int> unit;
    std::int64_t exp2 = 0; // a product of one number of each row is to be multiplied by 2^exp2
};

ScaledRows scaled_rows(const Block &block);

// An exact block as a sum over subsets in fixed precision takes it: scaled by powers of two so that the row
// sums stay below 1, on a grid on which they round nowhere and so do not drift.

struct GridBlock {
    int bits;                      // entries are multiples of 2^-bits
    std::vector<mpz_class> re, im; // by entry, in these units; in each row their absolute values add up to
                                   // less than 1, of the real and of the imaginary parts
    std::vector<char> cut;         // by entry: how many of its two parts were more than they are here
    std::int64_t exp2 = 0;         // the permanent is to be multiplied by 2^exp2
    std::int64_t unit = 0;         // a product of row sums is a multiple of 2^unit, halves included
    Scaled moved;                  // by so much at most has the permanent been moved, in units of 2^exp2
};

// Some of the block's entries other than 0 are a perfect matching.
bool has_perfect_matching(const ExactBlock &block);

// The block has a perfect matching.
GridBlock on_grid(const ExactBlock &block, int bits);

// A rational block with whole numbers in place of its fractions, and how large its permanent can be: what
// exact permanents by residues begin with.

struct IntegerBlock {
    Pattern pattern;
    std::vector<mpz_class> re, im; // by entry; no `im` if all entries are real
    mpq_class factor;              // times the permanent of these is that of the block
};

// Rows, then columns, without a divisor in common; equal lines stay equal.
IntegerBlock integer_block(const ExactBlock &block);

// Rows alone, of a block that need not be square: times the factor each product of an entry from every row is
// what it was.
IntegerBlock integer_rows(const ExactBlock &block);

// b with |re|, |im| < 2^b for the permanent's parts, for certain.
std::int64_t permanent_bits(const ExactBlock &block);
std::int64_t permanent_bits(const IntegerBlock &block);

} // namespace libperm
