// perm_compute of small dense matrices: permanents by Glynn's sum, hafnians by Björklund's, in microseconds
// and without a plan.
#pragma once

#include "lib/input/matrix_function.hpp"

#include <perm.h>

#include <optional>

namespace libperm {

// Fills a cleared result as perm_compute does, but for seconds and entry_rounding, and returns what it is of;
// only its text is kept. None, and nothing filled in: the general road is to answer, which knows more ways,
// and what is wrong with what was given.
std::optional<MatrixFunction> compute_small(const perm_csr *a, const perm_opts *opts, perm_result &result);

} // namespace libperm
