// Glynn's sum for perm_compute: permanents of small dense matrices in microseconds, without a plan.
#pragma once

#include <perm.h>

namespace libperm {

// Fills a cleared result as perm_compute does, but for seconds; only its text is allocated. False, and
// nothing filled in: the general road is to answer, which knows more ways, and what is wrong with what was
// given.
bool compute_glynn(const perm_csr *a, const perm_opts *opts, perm_result &result);

} // namespace libperm
