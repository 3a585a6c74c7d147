// The sparsity pattern of a matrix: all that plans, orders and reductions look at.
#pragma once

#include "preprocess/limits.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

// CSR without values; columns ascend inside a row. Entry k of the pattern goes with value k of the matrix.
// A *one-sided* one is a graph: row i and column i are one line, its vertex i, and the entries (i, j), i <=
// j, are edges, or loops where i = j. What is computed of it are perfect matchings of lines (hafnians), not
// of rows to columns.
struct Pattern {
    std::int32_t rows = 0, cols = 0;
    std::vector<std::int64_t> row_ptr{0};
    std::vector<std::int32_t> col;
    bool one_sided = false;

    std::int64_t nnz() const { return row_ptr.back(); }
    std::span<const std::int32_t> row(std::int32_t i) const {
        const auto begin = static_cast<std::size_t>(row_ptr[static_cast<std::size_t>(i)]);
        const auto end = static_cast<std::size_t>(row_ptr[static_cast<std::size_t>(i) + 1]);
        return {col.data() + begin, end - begin};
    }
    std::int64_t row_begin(std::int32_t i) const { return row_ptr[static_cast<std::size_t>(i)]; }

    // Lines are numbered rows first; the columns of a graph are its rows.
    std::int32_t line_of_column(std::int32_t j) const { return one_sided ? j : rows + j; }
    std::int32_t lines() const { return line_of_column(cols); }
};

// A^T with, for each of its entries, the entry of A it came from.
struct Transposed {
    Pattern pattern;
    std::vector<std::int64_t> source;
};

Transposed transpose(const Pattern &a);

} // namespace libperm
