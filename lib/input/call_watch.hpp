// When a call is to stop, and who is told how far it is.
#pragma once

#include <perm.h>

#include <limits>

namespace libperm {

struct CallWatch {
    double stop_seconds = std::numeric_limits<double>::infinity(); // found to take longer: stopped
    perm_progress_fn progress = nullptr;
    void *progress_user = nullptr;
    perm_cancel_fn cancel = nullptr;
    void *cancel_user = nullptr;
};

} // namespace libperm
