// Branch decompositions (Robertson and Seymour, Graph minors X, J. Combin. Theory B 52 (1991)) of a matrix: a
// binary tree whose leaves hold its entries, one each, or all of a row or column. The *middle set* of a node
// are the lines, rows and columns, with entries both below it and elsewhere. A state of a node is the set of
// its middle lines that are matched by entries below it; all other lines with entries below it are matched
// there. As many rows as columns are matched below a node, so that of k middle lines the number of columns
// less the number of rows in a state is fixed, which leaves C(k, u) states.
#pragma once

#include "preprocess/pattern.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

//
// In a graph the lines are its vertices, of which an even number is matched below a node, where no entry is a
// loop; states of k middle lines are 2^(k-1), or 2^k.
enum class BranchSides : std::uint8_t { two, one, one_with_loops };
BranchSides sides_of(const Pattern &a);

// Of a graph a line is a column; one with a loop is no leaf, for a step takes two lines or none.
struct BranchLeaf {
    enum class Kind : std::uint8_t { row, column, entry };
    Kind kind;
    std::int32_t index; // of the row or column
    std::int64_t entry; // of the pattern; of kind `entry` alone
};

// Node k is leaf k while k < leaves.size(), then joins[k - leaves.size()], of two nodes below k; the last is
// the root.
struct BranchDecomposition {
    std::vector<BranchLeaf> leaves;
    std::vector<std::array<std::int32_t, 2>> joins;

    std::int32_t nodes() const { return static_cast<std::int32_t>(leaves.size() + joins.size()); }
};

inline std::int64_t bytes_of(const BranchDecomposition &tree) {
    return static_cast<std::int64_t>(tree.leaves.size() * sizeof(BranchLeaf) +
                                     tree.joins.size() * sizeof tree.joins[0]);
}

// What a program with branches is made from: a tree, and which entries of the pattern count.
struct BranchSource {
    Pattern pattern;
    BranchDecomposition tree;
    std::vector<bool> kept; // empty: all

    bool keeps(std::int64_t entry) const { return kept.empty() || kept[static_cast<std::size_t>(entry)]; }
};
std::int64_t bytes_of(const BranchSource &source);
std::array<std::int32_t, 2> lines_of(const Pattern &a, std::int64_t entry); // of a loop the same twice
std::vector<std::int32_t> leaves_of_entries(const BranchSource &source);

// Without the leaves whose entries are all gone. `node`: of the whole tree, of each node that is left.
struct PrunedTree {
    BranchDecomposition tree;
    std::vector<std::int32_t> node;
};
PrunedTree pruned(const BranchSource &source);

// One that was searched for.
struct FoundBranches {
    BranchDecomposition tree;
    double seconds = 0;     // predicted, by the prices
    double peak_states = 0; // alive at once in the best order of the walk
};

// A matrix as its lines: row i is line i, column j is line (rows + j); an entry lies on two of them. Lines of
// a graph, its vertices, all count as columns; a loop lies on one.

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
