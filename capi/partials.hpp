// Partial results as callers have them.
#pragma once

#include <perm.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace capi {

// Throw Error (PERM_BAD_ARGUMENT) for null pointers and structs of no version.
perm_partial &cleared(perm_partial *partial);
void clear(perm_partial &partial);
void put(const std::string &bytes, perm_partial &partial); // a cleared one
std::vector<std::string_view> bytes_of(const perm_partial *partials, std::int64_t count);

} // namespace capi
