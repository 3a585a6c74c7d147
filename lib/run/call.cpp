#include "lib/run/call.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/system.hpp"

#include <algorithm>
#include <cmath>
#include <system_error>

namespace libperm {
namespace {

constexpr double nearly = 0.999; // more may follow: numbers of more digits, another engine

} // namespace

Call &call() {
    static Call nobodys;
    Polled *const polled = polled_here();
    Call *const found = polled ? polled->call() : nullptr;
    return found ? *found : nobodys;
}

void Call::begin(double work, double seconds) {
    const std::lock_guard lock(callback_mutex_);
    done_ = skipped_ = 0;
    is_answered_ = false;
    total_ = work;
    expected_seconds_ = seconds;
    begun_ = Clock::now();
}

void Call::expect_more(double work) {
    if (whole_) return whole_->expect_more(work * scale_);
    if (total_ > 0) total_.fetch_add(work);
}

void Call::finish() {
    const std::lock_guard lock(callback_mutex_);
    is_answered_ = true;
    stop_ = PERM_OK; // who wanted it to stop before is asked again
    const PolledScope callers(nullptr);
    watch_.tell(shown_ = 1, 0);
}

void Call::advance(double work, double patience) {
    if (whole_) return whole_->advance(work * scale_, patience);
    if (work > 0) done_.fetch_add(work, std::memory_order_relaxed);
    const Clock::time_point now = Clock::now();
    stop_if_asked(now, patience);
    if (now.time_since_epoch().count() < next_callback_.load(std::memory_order_relaxed)) return;
    std::unique_lock lock(callback_mutex_, std::try_to_lock);
    if (lock) call_back(now);
    stop_if_asked(now, patience);
}

void Call::begin_piece() { advance(0, 0); }

void Call::skip(double work) {
    if (whole_) return whole_->skip(work * scale_);
    skipped_.fetch_add(work, std::memory_order_relaxed);
    done_.fetch_add(work, std::memory_order_relaxed);
}

double Call::fraction() const {
    if (whole_) return whole_->fraction();
    return total_ > 0 ? std::clamp(done_ / total_, 0.0, 1.0) : 0;
}

void Call::begin_beside(void (*work)() noexcept) {
    if (whole_) return whole_->begin_beside(work);
    const std::lock_guard lock(beside_mutex_);
    beside_.reserve(beside_.size() + 1); // before a thread is there
    for (const auto &[begun, thread] : beside_)
        if (begun == work) return;
    try {
        beside_.emplace_back(work, std::jthread(work));
    } catch (const std::system_error &) { // no thread to be had: then it is done when it is needed
        beside_.emplace_back(work, std::jthread());
    }
}

void Call::stop_if_asked(Clock::time_point now, double patience) const {
    const int stop = stop_.load(std::memory_order_acquire);
    if (stop == PERM_OK) return;
    const Clock::duration asked(now.time_since_epoch().count() - asked_to_stop_);
    if (std::chrono::duration<double>(asked).count() < patience) return;
    if (stop == PERM_CANCELLED) throw Error(PERM_CANCELLED, "cancelled by the caller");
    if (stop != PERM_REFUSED_TIME) return;
    const double percent = std::floor(std::min(fraction(), nearly) * 1000) / 10; // 0: planning
    throw Error(PERM_REFUSED_TIME,
                formatted("stopped at the time limit of {}{}; allow more with time_limit_seconds",
                          readable_seconds(watch_.stop_seconds),
                          percent > 0 ? formatted(" with {:g} % of the work done", percent) : ""));
}

void Call::call_back(Clock::time_point now) {
    const PolledScope callers(nullptr); // what the caller does there is no part of this call
    next_callback_ = (now + std::chrono::milliseconds(100)).time_since_epoch().count();
    const auto since = [now](Clock::time_point t) { return std::chrono::duration<double>(now - t).count(); };
    const auto stop = [&](perm_status status) {
        if (stop_ == PERM_OK) asked_to_stop_ = now.time_since_epoch().count();
        stop_ = status;
    };
    if (since(start_) > watch_.stop_seconds) stop(PERM_REFUSED_TIME);
    if (watch_.is_cancelled()) stop(PERM_CANCELLED);
    if (!watch_.progress || is_answered_) return;
    if (total_ == 0) return watch_.tell(shown_, -1); // still planning
    const double fraction = this->fraction();
    shown_ = std::max(shown_, std::min(fraction, nearly));
    const double elapsed = since(begun_), skipped = std::clamp(skipped_ / total_, 0.0, 1.0);
    // The measured rate is worth more the more of it there is; before that the prediction has to do.
    const double run = fraction - skipped;
    const double left = run > 0.02 * (1 - skipped)
                            ? elapsed * (1 - fraction) / run
                            : std::max(0.0, expected_seconds_ * (1 - skipped) - elapsed);
    watch_.tell(shown_, left);
}

} // namespace libperm
