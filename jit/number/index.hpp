// Numbers of entries, columns and instructions as the indices that the standard library takes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libperm {

inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

} // namespace libperm
