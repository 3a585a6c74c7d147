// Linear recurrences modulo a prime.
#pragma once

#include "preprocess/poll.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// c with c[0] = 1 and sum_j c[j] a[n - j] = 0 for all n >= order, the shortest there is; modulo an odd p <
// 2^62 (Berlekamp; Massey, IEEE Trans. Inf. Theory 15 (1969)). It is that of the whole sequence if the terms
// are twice as many as an order that the sequence is known to have.
struct Recurrence {
    std::vector<std::uint64_t> c{1};
    std::size_t order = 0; // c may be shorter: a(0), ..., of which a term depends no more
};
Recurrence shortest_recurrence(const std::vector<std::uint64_t> &terms, std::uint64_t p);

// a(n) from the first `order` terms: x^n modulo the characteristic polynomial (Fiduccia, SIAM J. Comput. 14
// (1985)).
std::uint64_t term_of(const Recurrence &recurrence, const std::vector<std::uint64_t> &terms, std::uint64_t n,
                      std::uint64_t p);

} // namespace libperm
