#include "capi/mpi/watch.hpp"

#include "jit/text/text.hpp"
#include "lib/base/system.hpp"

#include <algorithm>
#include <limits>

namespace libperm::mpi {
namespace {

constexpr std::chrono::milliseconds between{100};

}

double Watch::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

double Watch::seconds_left() const {
    constexpr double least = 1e-3; // as 0 would mean the default
    if (!(opts_.time_limit_seconds > 0)) return std::numeric_limits<double>::infinity();
    return std::max(least, opts_.time_limit_seconds - seconds());
}

const std::optional<Failure> &Watch::poll() {
    if (stop_ || Clock::now() - polled_ < between) return stop_;
    polled_ = Clock::now();
    if (opts_.cancel && opts_.cancel(opts_.cancel_user))
        stop_ = {PERM_CANCELLED, "cancelled by the caller"};
    else if (opts_.time_limit_seconds > 0 && seconds() > opts_.time_limit_seconds)
        stop_ = {PERM_REFUSED_TIME, formatted("stopped at the time limit of {}; allow more with "
                                              "time_limit_seconds",
                                              readable_seconds(opts_.time_limit_seconds))};
    return stop_;
}

void Watch::tell(double fraction) {
    if (!opts_.progress || Clock::now() - told_ < between) return;
    told_ = Clock::now();
    if (first_fraction_ < 0) { // of a checkpoint
        first_fraction_ = fraction;
        first_seconds_ = seconds();
    }
    shown_ = std::max(shown_, fraction);
    const double done = shown_ - first_fraction_;
    const double left = done > 0 ? (seconds() - first_seconds_) * (1 - shown_) / done : -1;
    opts_.progress(shown_, left, opts_.progress_user);
}

} // namespace libperm::mpi
