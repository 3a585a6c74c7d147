// The instruction sets that lanes are compiled for, by Highway; to be included before hwy/foreach_target.h.
#pragma once

#include <hwy/detect_compiler_arch.h>

#define HWY_DISABLED_TARGETS                                                                                 \
    (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
