// A background u v^T of most entries: J - I, matrices with few zeros, what few positions forbid.
#pragma once

#include "lib/structure/probe.hpp"
#include "lib/structure/structure.hpp"

#include <vector>

namespace libperm {

// None (no rows beside it) where fewer than half of the entries of most lines share one. `residues`: all of
// the block's, by row.
template <class Value> bool may_have_background(const Probe<Value> &probe);
template <class Value>
Background find_background(const BlockOf<Value> &block, const Probe<Value> &probe,
                           const std::vector<std::uint64_t> &residues, const Poll &poll);

} // namespace libperm
