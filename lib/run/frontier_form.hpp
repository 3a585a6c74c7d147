// The two forms that the frontier's tables have (lib/frontier).
#pragma once

namespace libperm {

// sparse: sorted lists of (state, number), for few reachable states of many columns.
// dense: one number for every subset of the right size, for few columns; no program with counters.
enum class FrontierForm { sparse, dense };

inline const char *form_name(FrontierForm form) { return form == FrontierForm::sparse ? "sparse" : "dense"; }

} // namespace libperm
