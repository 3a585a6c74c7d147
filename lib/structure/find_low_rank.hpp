// A low rank, exactly; and rank one up to rounding.
#pragma once

#include "lib/structure/probe.hpp"
#include "lib/structure/structure.hpp"

#include <vector>

namespace libperm {

// By a few rows and columns.
template <class Value> bool may_have_low_rank(const Probe<Value> &probe);
template <class Value>
LowRank find_low_rank(const BlockOf<Value> &block, const Probe<Value> &probe,
                      const std::vector<std::uint64_t> &residues, const Poll &poll);

// Whether all entries are positive, and within 2^-40 of a_i0 a_0j / a_00.
bool is_nearly_rank_one(const Block &block, const Poll &poll);

} // namespace libperm
