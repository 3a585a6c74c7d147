// Kasteleyn's signs (Physica 27, 1961; Temperley and Fisher, Phil. Mag. 6, 1961) of a drawing: round each
// face of 2k entries, with those that stand in it twice, their product is (-1)^(k+1). In the plane every
// perfect matching has the same sign in the determinant then, whatever the entries are.
//
// A positive entry points from its row to its column, a negative one back: what is said is that an odd number
// of entries point the way round. So it is of graphs that have not two sides, too, whose matchings have the
// same sign in the Pfaffian then (Kasteleyn, J. Math. Phys. 4, 1963); faces that are connected need no more.
#pragma once

#include "lib/planar/faces.hpp"

#include <vector>

namespace libperm {

// Trees that reach all lines, one for each connected part.
struct Forest {
    std::vector<Dart> to_parent;     // by line; -1: a root
    std::vector<std::int32_t> depth; // by line
    explicit Forest(const PatternGraph &graph);
};

// The entries outside the forest join faces: those of a forest of faces (Eppstein, SODA 2003) have the signs
// that the faces need, all others are positive. Of each connected part one face is the outer one; in the
// plane its signs are right where the part has an even number of lines, half of them rows if there are such.
class KasteleynSigns {
  public:
    KasteleynSigns(const PatternGraph &graph, const Faces &faces, const Forest &forest);

    const std::vector<char> &is_negative() const { return is_negative_; } // by entry
    // In neither forest: two for each handle.
    const std::vector<std::int32_t> &around_handles() const { return around_handles_; }

    // Other signs are as good on a surface: one of around_handles() is negated with those that faces need
    // then.
    std::vector<std::int32_t> flips_with(std::int32_t entry) const;
    // What a curve from one line to another crosses that meets no other line; outer faces are one.
    std::vector<std::int32_t> flips_between(std::int32_t line, std::int32_t other) const;

  private:
    std::vector<std::int32_t> from_outer(std::int32_t face) const; // crossed on the way, ascending
    std::vector<std::int32_t> between(std::int32_t face, std::int32_t other) const;

    const PatternGraph &graph_;
    const Faces &faces_;
    std::vector<std::int32_t> parent_, to_parent_; // by face, and the entry between; -1: an outer one
    std::vector<char> is_negative_;
    std::vector<std::int32_t> around_handles_;
};

} // namespace libperm
