// Permanent ordering: rows and columns in an order that lets the first columns touch few rows. Elbek and
// Kaya, "Fully-Automated Code Generation for Efficient Computation of Sparse Matrix Permanents on GPUs",
// Algorithm 3.
#pragma once

#include "preprocess/pattern.hpp"

namespace libperm {

// Row r of the ordered matrix is row rows[r] of A, and column c is column cols[c] of A.
struct Ordering {
    std::vector<std::int32_t> rows, cols;
};

// Next comes the column with the fewest entries in rows not placed yet, of equal ones the first; its new rows
// follow in ascending order. Empty rows come last. `at` is the transpose of `a`. O(nnz + cols^2).
Ordering permanent_ordering(const Pattern &a, const Pattern &at);

// P A Q with, for each of its entries, the entry of A it came from.
struct Reordered {
    Pattern pattern;
    std::vector<std::int64_t> source;
};

Reordered reorder(const Pattern &a, const Ordering &order);

} // namespace libperm
