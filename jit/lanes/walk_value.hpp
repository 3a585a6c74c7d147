// The arithmetic of jit/device/walk_value.cuh on the host.
#pragma once

#include <bit>

namespace libperm::walk_value {

// NOLINTBEGIN(bugprone-reserved-identifier): words of CUDA C++
#define __device__
#define __forceinline__ inline
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
// NOLINTEND(bugprone-reserved-identifier)

#include "jit/device/walk_value.cuh"

#undef __device__
#undef __forceinline__

} // namespace libperm::walk_value
