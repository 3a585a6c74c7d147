// Hafnians and loop hafnians on a CPU, by sums over signs, eight of them side by side: Björklund, Counting
// perfect matchings as fast as Ryser, SODA 2012, with finite differences for the inclusion and exclusion.
//
// The 2m lines of a graph are paired: (0, 1), (2, 3), .... Pairs are taken out one after the other, with a
// sign d. Of the lines that are left b_jk(r) tells the walks from j to k, l_j(r) those from j to a loop, and
// g(r) the closed ones, all through pairs that were taken out: at first a_jk, a_jj and 1. Without (0, 1)
//
//   b_jk + d r (b_0j b_1k + b_1j b_0k),   l_j + d r (b_0j l_1 + b_1j l_0),   g (1 + d r (b_01 + l_0 l_1))
//
// A factor of r stands for a pair that was used. Sums over d of d times such keep what uses the pair once (or
// thrice, at too high powers of r), so with s pairs taken out, up to r^s,
//
//   2^(m-2) haf(A) = sum over the signs d of m - 2 pairs of prod d * [r^(m-2)] g haf(b of the four left)
//
// which a change of all signs leaves as it is: the first is 1, and the sum is half of that.
#pragma once

#include "jit/number/arithmetic.hpp"

#include <cstddef>
#include <cstdint>

namespace libperm {

// The loops, if there are any, are edges to one line more, the last, to which no walk goes twice.
struct HafnianLines {
    static constexpr int least_pairs = 6, most_pairs = 32;

    Arithmetic arithmetic; // real, complex, dd, complex_dd or modular
    int pairs;
    bool has_loops;
    const double *entries; // (0, 1), (0, 2), ..., (1, 2), ...: the parts of each
    const double *errors;  // of each, in the sum of its parts; of residues none
    double prime;          // of residues

    int lines() const { return 2 * pairs + (has_loops ? 1 : 0); }
};

struct HafnianLanes {
    static constexpr int lanes = 8, lane_bits = 3;

    double parts[4][lanes]; // of the arithmetic
    double error[lanes];    // of the sum of the parts, but for a share of 2^-30 of it

    // Of a lane's terms, by the signs that tell it from others.
    static constexpr bool is_negative(int lane) { return ((lane ^ lane >> 1 ^ lane >> 2) & 1) != 0; }
};

// Signs that a sum runs over but for the lanes' ones: it falls into 2^bits pieces, bits <= these.
constexpr int hafnian_sign_bits(int pairs) { return pairs - 3 - HafnianLanes::lane_bits; }

// Doubles that a piece works in, on a boundary of 64 bytes.
std::size_t hafnian_room(const HafnianLines &of);

// Of one piece, whose own signs are not in the terms. The same bits on every processor. Errors bound, beside
// the piece's own, those of as many additions as 2^pairs terms take by halves.
void sum_over_pair_signs(const HafnianLines &of, int piece_bits, std::uint64_t piece, double *room,
                         HafnianLanes &to);

// Multiply-adds of numbers that a term takes.
double hafnian_operations(int pairs, bool has_loops);

} // namespace libperm
