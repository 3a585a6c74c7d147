// A pattern as a graph, its lines (rows, then columns; of a one-sided one both at once) the vertices, its
// entries the edges; and its drawings without crossings, in the plane and on surfaces.
#pragma once

#include "preprocess/index.hpp"
#include "preprocess/pattern.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
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

// Of each dart the next one round the line that it leaves. Any such order is a drawing on an orientable
// surface, of discs that the faces are (Heffter, Math. Ann. 38, 1891; Edmonds 1960): it needs no other proof.
using Rotation = std::vector<Dart>;

// What is left of a pattern.
Pattern with_entries(const Pattern &a, const std::vector<char> &is_kept);

// In the plane (Boyer and Myrvold, J. Graph Algorithms Appl. 8, 2004). None: that is impossible. O(n + nnz);
// a planar graph of n lines has 2n - 4 entries where it has two sides, else 3n - 6 at most, and more are told
// at once.
std::optional<Rotation> planar_rotation(const Pattern &a);

// The darts of each face, one after the other: an entry stands in two faces, or twice in one.
struct Faces {
    std::vector<std::vector<Dart>> darts;
    std::vector<std::int32_t> of_dart;
};
Faces faces_of(const Rotation &rotation);

// Handles of the surface, by Euler's formula: of all connected parts together.
std::int32_t genus_of(const Rotation &rotation, const Faces &faces);

// Guessed from short cycles, which lattices have as faces. None: it has more handles, or none with so few was
// found. O(n + nnz).
std::optional<Rotation> rotation_by_short_cycles(const PatternGraph &graph, std::int32_t most_genus);

// Entries, ascending, without which the drawing is one in the plane: one for each handle, if all goes well.
// Empty: there is no handle, or so many are not enough.
std::vector<std::int32_t> entries_on_handles(const PatternGraph &graph, Rotation rotation, std::size_t most);

} // namespace libperm
