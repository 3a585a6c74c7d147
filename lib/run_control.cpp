#include "lib/run_control.hpp"

#include "lib/error.hpp"
#include "lib/system.hpp"

#include <algorithm>

namespace libperm {

void RunControl::begin(double work, double seconds) {
    const std::lock_guard lock(callback_mutex_);
    done_ = 0;
    total_ = work;
    expected_seconds_ = seconds;
    begun_ = Clock::now();
}

void RunControl::advance(double work) {
    if (whole_) return whole_->advance(work * scale_);
    if (work > 0) done_.fetch_add(work, std::memory_order_relaxed);
    stop_if_asked();
    const Clock::time_point now = Clock::now();
    if (now.time_since_epoch().count() < next_callback_.load(std::memory_order_relaxed)) return;
    std::unique_lock lock(callback_mutex_, std::try_to_lock);
    if (lock) call_back(now);
    stop_if_asked();
}

void RunControl::stop_if_asked() const {
    const int stop = stop_.load(std::memory_order_relaxed);
    if (stop == PERM_CANCELLED) throw Error(PERM_CANCELLED, "cancelled by the caller");
    if (stop == PERM_REFUSED_TIME)
        throw Error(PERM_REFUSED_TIME, "stopped at the time limit of " +
                                           readable_seconds(options_.stop_seconds) +
                                           "; allow more with time_limit_seconds");
}

void RunControl::call_back(Clock::time_point now) {
    next_callback_ = (now + std::chrono::milliseconds(100)).time_since_epoch().count();
    const auto since = [now](Clock::time_point t) { return std::chrono::duration<double>(now - t).count(); };
    if (since(start_) > options_.stop_seconds) stop_ = PERM_REFUSED_TIME;
    if (options_.cancel && options_.cancel(options_.cancel_user)) stop_ = PERM_CANCELLED;
    if (!options_.progress) return;
    if (total_ == 0) { // still planning
        options_.progress(shown_, -1, options_.progress_user);
        return;
    }
    const double fraction = std::clamp(done_ / total_, 0.0, 1.0);
    shown_ = std::max(shown_, fraction);
    const double elapsed = since(begun_);
    // The measured rate is worth more the more of it there is; before that the prediction has to do.
    const double left =
        fraction > 0.02 ? elapsed * (1 - fraction) / fraction : std::max(0.0, expected_seconds_ - elapsed);
    options_.progress(shown_, left, options_.progress_user);
}

} // namespace libperm
