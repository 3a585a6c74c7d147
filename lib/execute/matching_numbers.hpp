// The numbers of matchings with 0, 1, 2, ... edges (the rook polynomial's coefficients), exactly.
//
// With every entry times t and every line free to stay unmatched with weight 1 the sum over all matchings is
// sum_k m_k t^k. At t = 2^b, b longer than any m_k, all of them stand beside each other in one whole number
// (Kronecker's substitution): one exact computation gives them all.
#pragma once

#include "lib/plan/plan.hpp"
#include "lib/run/outcome.hpp"

#include <vector>

namespace libperm {

struct MatchingNumbers {
    Plan plan; // of that computation
    std::vector<Outcome> numbers;
};

// Lines are counted with multiplicities; k goes from 0 to the lesser number of them. Throws Error.
// `count` is checked against that.
MatchingNumbers matching_numbers(const perm_csr *a, const Options &options, std::int64_t count,
                                 RunControl &control);

} // namespace libperm
