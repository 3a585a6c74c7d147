// A rational block with whole numbers in place of its fractions, and how large its permanent can be: what
// exact permanents by residues begin with.
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/poll.hpp"

#include <gmpxx.h>

#include <cstdint>
#include <vector>

namespace libperm {

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
