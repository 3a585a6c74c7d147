// A pattern as a graph: its lines (rows, then columns; of a one-sided one both at once) are the vertices, its
// entries the edges.
#pragma once

#include "preprocess/index.hpp"
#include "preprocess/pattern.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

// An entry as it leaves one of its lines: 2 e its row, 2 e + 1 its column.
using Dart = std::int32_t;
constexpr Dart across(Dart d) { return d ^ 1; } // as it leaves the other
constexpr std::int32_t entry_of(Dart d) { return d >> 1; }
constexpr bool leaves_row(Dart d) { return (d & 1) == 0; }

class PatternGraph {
  public:
    explicit PatternGraph(const Pattern &a) : line_of_(2 * at(a.nnz())), first_(at(a.lines()) + 1) {
        std::int32_t entry = 0;
        for (std::int32_t i = 0; i < a.rows; ++i)
            for (const std::int32_t j : a.row(i)) {
                line_of_[at(2 * entry)] = i;
                line_of_[at(2 * entry + 1)] = a.line_of_column(j);
                ++entry;
            }
        for (const std::int32_t line : line_of_) ++first_[at(line) + 1];
        for (std::size_t k = 1; k < first_.size(); ++k) first_[k] += first_[k - 1];
        darts_.resize(line_of_.size());
        std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
        for (Dart d = 0; at(d) < line_of_.size(); ++d) darts_[next[at(line_of_[at(d)])]++] = d;
    }

    std::int32_t lines() const { return static_cast<std::int32_t>(first_.size()) - 1; }
    std::int32_t entries() const { return darts() / 2; }
    std::int32_t darts() const { return static_cast<std::int32_t>(line_of_.size()); }
    std::int32_t line_of(Dart d) const { return line_of_[at(d)]; } // that it leaves
    std::int32_t row_of(std::int32_t entry) const { return line_of(2 * entry); }
    std::int32_t column_of(std::int32_t entry) const { return line_of(2 * entry + 1); } // as a line
    std::span<const Dart> around(std::int32_t line) const {
        return std::span(darts_).subspan(first_[at(line)], first_[at(line) + 1] - first_[at(line)]);
    }

  private:
    std::vector<std::int32_t> line_of_;
    std::vector<std::size_t> first_;
    std::vector<Dart> darts_;
};

} // namespace libperm
