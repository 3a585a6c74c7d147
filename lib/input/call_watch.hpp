// When a call is to stop, what it may hold, and who is told how far it is.
#pragma once

#include <perm.h>

#include <cstdint>
#include <limits>

namespace libperm {

struct CallWatch {
    double stop_seconds = std::numeric_limits<double>::infinity(); // found to take longer: stopped
    perm_progress_fn progress = nullptr;
    void *progress_user = nullptr;
    perm_cancel_fn cancel = nullptr;
    void *cancel_user = nullptr;
    std::int64_t memory_limit = std::numeric_limits<std::int64_t>::max(); // bytes, on the CPU
};

} // namespace libperm
