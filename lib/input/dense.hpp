// The caller's dense matrices, but for their values.
#pragma once

#include <perm.h>

#include <cstddef>

namespace libperm {

// Throws Error for one whose shape, type or size is none.
const perm_dense &require_dense(const perm_dense *a);

constexpr std::size_t bytes_of_value(const perm_dense &a) { return a.value_type == PERM_VALUE_C128 ? 16 : 8; }

} // namespace libperm
