// Powers of two for a graph's lines, so that none outweighs the others.
#pragma once

#include "lib/number/scaled.hpp"
#include "preprocess/pattern.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// By line, exponents s: the sizes of an edge times 2^(s_i + s_j) and of a loop times 2^s_i add up, at each
// line, to about row_sum. `sizes` by entry. The lines that the graph lacks of `lines` have a loop of 1.
std::vector<std::int64_t> line_scales(const Pattern &graph, const std::vector<Scaled> &sizes,
                                      std::int32_t lines);

} // namespace libperm
