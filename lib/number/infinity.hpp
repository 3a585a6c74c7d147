// What is above every double.
#pragma once

#include <limits>

namespace libperm {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

} // namespace libperm
