// A permanent as a sum of determinants of the block with signs, divided by a power of two.
#pragma once

#include "lib/planar/drawing.hpp"
#include "preprocess/matching.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace libperm {

struct SignedSum {
    // A choice negates entries; where there are crossings it is to use one of them, whose row and column have
    // no other entry then.
    struct Choice {
        std::vector<std::int32_t> flips;
        std::int32_t crossing = -1;
    };
    struct Term {
        std::vector<std::int32_t> choices;
        bool is_odd = false; // the determinant is negated
    };

    std::vector<char> is_negative; // by entry, before any choice
    std::vector<Choice> choices;
    std::vector<Term> terms;
    std::int32_t genus = 0; // the sum is to be divided by 2 so many times

    std::int64_t bytes() const;
    std::vector<std::int32_t> crossings() const;
    // By entry what it is multiplied by: 1, -1 or, of crossings that are not used and what stands in the
    // lines of those that are, 0.
    std::vector<signed char> factors(const PatternGraph &graph, const Term &term) const;
};

// The perfect matching stands on the diagonal of the determinants. Of a drawing on a surface of g handles:
// 4^g of them (Kasteleyn 1961; Galluccio and Loebl, Electron. J. Combin. 6, 1999; Tesler, J. Combin. Theory B
// 78, 2000; in the form of Cimasoni and Reshetikhin, Commun. Math. Phys. 275, 2007).
SignedSum sum_on_surface(const PatternGraph &graph, const Rotation &rotation, const Matching &matching);

// Of a graph that is planar without these entries, ascending: a determinant for each set of them that a
// perfect matching may use. None: it is not, or these are more than `most`.
std::optional<SignedSum> sum_over_crossings(const Pattern &a, const std::vector<std::int32_t> &crossings,
                                            const Matching &matching, std::size_t most);

// Kasteleyn's signs (Physica 27, 1961; Temperley and Fisher, Phil. Mag. 6, 1961) of a drawing: round each
// face of 2k entries, with those that stand in it twice, their product is (-1)^(k+1). In the plane every
// perfect matching has the same sign in the determinant then, whatever the entries are.
//
// A positive entry points from its row to its column, a negative one back: what is said is that an odd number
// of entries point the way round. So it is of graphs that have not two sides, too, whose matchings have the
// same sign in the Pfaffian then (Kasteleyn, J. Math. Phys. 4, 1963); faces that are connected need no more.

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
