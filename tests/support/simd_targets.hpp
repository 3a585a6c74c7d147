// Highway's code for each instruction set of this machine.
#pragma once

#include <hwy/highway.h>

#include <cstdint>

template <class F> void for_each_target(F f) {
    const std::int64_t here = hwy::SupportedTargets();
    for (const std::int64_t target : {HWY_AVX3, HWY_AVX2, HWY_NEON, HWY_EMU128 | HWY_SCALAR}) {
        if (target != (HWY_EMU128 | HWY_SCALAR) && (here & target) == 0) continue;
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
        f();
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}
