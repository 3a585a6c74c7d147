// What tests compile kernels for where there is no GPU.
#pragma once

#include "jit/compile/nvrtc.hpp"
#include "tests/support/run.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

// sm_90 where NVRTC knows it, else the newest that it knows. Without NVRTC none, and a skip is announced;
// none with sanitizers either, for NVRTC's work is not sanitized.
inline std::optional<std::string> nvrtc_target() {
    if (run::sanitized) {
        run::skip("NVRTC's work is not sanitized");
        return {};
    }
    const libperm::NvrtcStatus &status = libperm::nvrtc_status();
    if (!status.found) {
        run::skip(status.why_not);
        return {};
    }
    const std::vector<int> &known = status.architectures;
    const bool has_90 = std::find(known.begin(), known.end(), 90) != known.end();
    return "sm_" + std::to_string(has_90 ? 90 : known.back());
}
