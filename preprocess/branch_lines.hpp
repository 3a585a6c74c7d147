// A matrix as its lines: row i is line i, column j is line (rows + j); an entry lies on two of them. Lines of
// a graph, its vertices, all count as columns; a loop lies on one.
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
    std::int32_t entries() const { return static_cast<std::int32_t>(lines_of_.size()); }
    bool is_row(std::int32_t line) const { return line < rows_; }
    std::int32_t line_of(const BranchLeaf &leaf) const { // of one that is no entry
        return leaf.kind == BranchLeaf::Kind::row ? leaf.index : rows_ + leaf.index;
    }

    std::span<const std::int32_t> of(std::int32_t entry) const { // its lines, a row first
        const auto &lines = lines_of_[static_cast<std::size_t>(entry)];
        return {lines.data(), lines[0] == lines[1] ? std::size_t{1} : 2};
    }
    std::int32_t other(std::int32_t line, std::int32_t entry) const {
        const auto &lines = lines_of_[static_cast<std::size_t>(entry)];
        return lines[0] == line ? lines[1] : lines[0];
    }
    bool has_loop(std::int32_t line) const {
        return !loops_.empty() && loops_[static_cast<std::size_t>(line)];
    }
    BranchSides sides() const { return sides_; }
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
    BranchSides sides_;
    std::vector<std::array<std::int32_t, 2>> lines_of_; // of each entry
    std::vector<bool> loops_;                           // on each line; empty: none
    std::vector<std::int32_t> first_, entries_;
};

// Whether each entry of the pattern is in one leaf, and each node but the last in one join.
bool is_decomposition(const Pattern &a, const BranchDecomposition &tree);

} // namespace libperm
