// A background u v^T of most entries: J - I, matrices with few zeros, what few positions forbid; or several,
// by classes of lines.
#pragma once

#include "lib/structure/probe.hpp"
#include "lib/structure/structure.hpp"

#include <vector>

namespace libperm {

// None (no rows beside it) where more than a quarter of the entries are not of it. `residues`: all of the
// block's, by row.
template <class Value> bool may_have_background(const Probe<Value> &probe);
template <class Value>
Background find_background(const BlockOf<Value> &block, const Probe<Value> &probe,
                           const std::vector<std::uint64_t> &residues, const Poll &poll);

} // namespace libperm
