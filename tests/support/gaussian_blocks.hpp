// Random matrices of complex rationals, and what tests compare of them.
#pragma once

#include "bench/families.hpp"
#include "preprocess/block.hpp"
#include "preprocess/repeated_lines.hpp"
#include "tests/support/oracle.hpp"

// What the entries are.
enum class Complexes {
    reals,      // doubles in [-1, 1]
    positive,   // doubles in (0, 1]
    complex,    // doubles in [-1, 1] in both parts
    imaginary,  // the same, without a real part
    integers,   // whole numbers in -9 .. 9 in both parts
    rationals,  // fractions of such
    wide,       // complex, times 10^-300 .. 10^300
    cancelling, // 1, -1, i or -i, with something far smaller beside it
    kinds       // so many
};
bool all_real(Complexes entries); // unlike the others

libperm::Gaussian random_complex(Complexes entries, perm::families::Random &random);

// With explicit zeros now and then; without a perfect matching seldom.
oracle::GaussianMatrix random_matrix(std::int64_t n, Complexes entries, perm::families::Random &random);
// The same, of a few kinds of rows and columns, each repeated as often as chance has it.
oracle::GaussianMatrix with_equal_lines(std::int64_t n, Complexes entries, perm::families::Random &random);

// All n^2 entries, or those that are not 0 and some that are.
libperm::ExactBlock full_block(const oracle::GaussianMatrix &a);
libperm::ExactBlock sparse_block(const oracle::GaussianMatrix &a, perm::families::Random &random);

libperm::LineClasses kinds_of(const oracle::GaussianMatrix &a);

// |x - y| <= most.
bool within(const libperm::Gaussian &x, const libperm::Gaussian &y, const mpq_class &most);
