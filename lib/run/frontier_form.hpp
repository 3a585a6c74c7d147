// The forms that the frontier's tables have (lib/frontier).
#pragma once

namespace libperm {

// sparse: sorted lists of (state, number), for few reachable states of many columns.
// dense: one number for every subset of the right size, for few columns; no program with counters.
// branches: sorted lists that grow along the branches of a tree and are joined.
enum class FrontierForm { sparse, dense, branches };

inline const char *form_name(FrontierForm form) {
    return form == FrontierForm::sparse ? "sparse" : form == FrontierForm::dense ? "dense" : "branches";
}

} // namespace libperm
