// A permanent as a sum of determinants of the block with signs, divided by a power of two.
#pragma once

#include "lib/planar/faces.hpp"
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

} // namespace libperm
