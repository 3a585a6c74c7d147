// The arithmetic of jit/device/number.cuh on the host.
#pragma once

#include <cmath>

// NOLINTBEGIN(bugprone-reserved-identifier): words of CUDA C++
#define __device__
#define __forceinline__ inline
// NOLINTEND(bugprone-reserved-identifier)

namespace libperm::number {

using std::fabs, std::fma, std::fmax;
#include "jit/device/number.cuh"

} // namespace libperm::number

#undef __device__
#undef __forceinline__
