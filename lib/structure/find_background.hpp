// A background u v^T of most entries: J - I, matrices with few zeros, what few positions forbid; or several,
// by classes of lines.
#pragma once

#include "lib/structure/structure.hpp"
#include "preprocess/block.hpp"
#include "preprocess/poll.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// Whether two of a few rows of n residues each may be of one background.
bool has_alike_rows(const std::vector<std::uint64_t> &residues, std::int32_t n);

// None (no rows beside it) where more than a quarter of the entries are not of it. `residues`: all of the
// block's, by row (probe.hpp).
template <class Value>
Background find_background(const BlockOf<Value> &block, const std::vector<std::uint64_t> &residues);

} // namespace libperm
