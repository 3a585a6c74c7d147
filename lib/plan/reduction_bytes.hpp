// What the reductions of an input are predicted to hold, and what they begin from, in bytes.
#pragma once

#include "lib/input/matrix.hpp"
#include "preprocess/block.hpp"

namespace libperm {

std::int64_t bytes_of(const Values &values);

// About what the input takes as the reductions are given it, in doubles (Tracked) or exact numbers
// (Gaussian).
template <class Value> std::int64_t root_bytes(const InputPattern &input, const Values &values);

// What reducing it comes to at its peak.
template <class Value> std::int64_t reduction_bytes(const InputPattern &input, const Values &values);

} // namespace libperm
