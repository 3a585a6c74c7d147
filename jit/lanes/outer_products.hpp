// Sums of outer products of doubles on a CPU, in vectors: what tables of a frontier come to where they are
// joined.
//
// Each number of a result is summed in one order, from 0 on, each product rounded and then added: the same
// bits on every processor, and as one by one. `pairs`: in the place of a number stand two doubles, each added
// and multiplied by itself; all places are counted in such pairs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace libperm {

constexpr std::size_t outer_columns = 8; // columns come in multiples of them

// c[r, v] = sum over k of a[k][r] * b[k][v].
struct OuterProducts {
    std::span<const double *const> a, b; // equally many
    std::size_t rows, columns;
    double *c;
    std::size_t stride; // of c, from one row to the next
};
void sum_outer_products(const OuterProducts &products, bool pairs);

constexpr std::int32_t most_subset_lines = 5;

// A number or more for a subset of a few lines: `count` of them from `begin` on.
struct SubsetPiece {
    std::uint32_t begin, states; // of them may be other than 0
    std::uint16_t count;
    std::uint8_t subset;
    std::uint8_t kind; // of a left one: for which of a target's matrices
};

// c(s + t) += a(s) b(t)^T for all disjoint s, t, in the order of s. A piece of b is filled up with zeros to
// whole columns, and so are the rows of c.
struct SubsetProducts {
    std::int32_t lines;
    std::span<const SubsetPiece> left, right; // by subset, ascending
    const double *a, *b;
    double *c;
    const std::uint32_t *c_begin; // of the matrix for s + t and a kind, at (s + t) * kinds + kind
    std::uint32_t kinds;
    std::uint32_t *added; // for each of these matrices: how many products were
};
// The pieces of a side by their subsets, to be looked up.
struct SubsetIndex {
    static constexpr std::uint8_t none = 255;
    std::array<std::uint8_t, std::size_t{1} << most_subset_lines> at;

    explicit SubsetIndex(std::span<const SubsetPiece> pieces) {
        at.fill(none);
        for (std::size_t k = 0; k < pieces.size(); ++k) at[pieces[k].subset] = static_cast<std::uint8_t>(k);
    }
};

// Returns the products of two states.
double add_subset_products(const SubsetProducts &products, bool pairs);

} // namespace libperm
