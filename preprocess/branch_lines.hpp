// A matrix as its lines: row i is line i, column j is line (rows + j); an entry lies on two of them.
#pragma once

#include "preprocess/branch_decomposition.hpp"

#include <span>

namespace libperm {

class BranchLines {
  public:
    explicit BranchLines(const Pattern &a);

    std::int32_t rows() const { return rows_; }
    std::int32_t columns() const { return columns_; }
    std::int32_t count() const { return rows_ + columns_; }
    std::int32_t entries() const { return static_cast<std::int32_t>(row_of_.size()); }
    bool is_row(std::int32_t line) const { return line < rows_; }

    std::int32_t row_of(std::int32_t entry) const { return row_of_[static_cast<std::size_t>(entry)]; }
    std::int32_t column_of(std::int32_t entry) const { return column_of_[static_cast<std::size_t>(entry)]; }
    std::span<const std::int32_t> on(std::int32_t line) const { // its entries
        const auto begin = static_cast<std::size_t>(first_[static_cast<std::size_t>(line)]);
        return {entries_.data() + begin, static_cast<std::size_t>(degree(line))};
    }
    std::int32_t degree(std::int32_t line) const {
        return first_[static_cast<std::size_t>(line) + 1] - first_[static_cast<std::size_t>(line)];
    }
    std::int32_t least_degree() const;

  private:
    std::int32_t rows_, columns_;
    std::vector<std::int32_t> row_of_, column_of_; // lines of an entry
    std::vector<std::int32_t> first_, entries_;
};

} // namespace libperm
