// The forms that the frontier's tables have.
#pragma once

namespace libperm {

// By their places among the engine's forms (lib/input/engine.hpp).
// sparse: sorted lists of (state, number), for few reachable states of many columns.
// dense: one number for every subset of the right size, for few columns; no program with counters.
// branches: sorted lists that grow along the branches of a tree and are joined.
enum class FrontierForm { sparse, dense, branches };

inline int number_of(FrontierForm form) { return static_cast<int>(form); }

} // namespace libperm
