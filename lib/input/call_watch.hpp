// When a call is to stop, what it may hold, and who is told how far it is.
#pragma once

#include "lib/base/error.hpp"

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

    bool is_cancelled() const {
        return cancel && guarded([this] { return cancel(cancel_user) != 0; });
    }
    void tell(double fraction, double seconds_left) const {
        if (progress) guarded([&] { return progress(fraction, seconds_left, progress_user), true; });
    }

  private:
    // They are C's, and those of C++ throw all the same.
    template <class Callback> static bool guarded(const Callback &callback) {
        try {
            return callback();
        } catch (const std::exception &error) {
            fail(error.what());
        } catch (...) {
            fail("of an unknown type");
        }
    }
    [[noreturn]] static void fail(const char *what) {
        throw Error(PERM_BAD_OPTION, std::string("a callback threw an exception, which none may: ") + what);
    }
};

} // namespace libperm
