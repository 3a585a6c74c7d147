// Progress, cancelling and the time limit of one call, as its workers see them.
#pragma once

#include "lib/options.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>

namespace libperm {

// What long loops outside the engines call now and then: throws once the call is to stop.
using Poll = std::function<void()>;
inline void no_poll() {}

class RunControl {
  public:
    explicit RunControl(const Options &options) : options_(options) {}

    // A part of another call's work, whose unit is `scale` of the other's units.
    RunControl(RunControl &whole, double scale) : options_(whole.options_), whole_(&whole), scale_(scale) {}

    // From now on progress is counted towards `work`, in any unit, expected to take `seconds`; 0: towards
    // what nobody knows yet. The fraction that was told stands until it is passed.
    void begin(double work, double seconds);

    // Called by any thread after a piece of work of a millisecond or so. Throws Error (PERM_CANCELLED,
    // PERM_REFUSED_TIME) once the call is to stop.
    void advance(double work);

    void poll() { advance(0); }

  private:
    using Clock = std::chrono::steady_clock;

    void stop_if_asked() const;
    void call_back(Clock::time_point now);

    const Options &options_;
    RunControl *whole_ = nullptr;
    double scale_ = 1;
    const Clock::time_point start_ = Clock::now();
    std::atomic<double> done_{0}, total_{0};
    double expected_seconds_ = 0, shown_ = 0;
    Clock::time_point begun_ = start_;
    std::atomic<Clock::rep> next_callback_{0};
    std::atomic<int> stop_{PERM_OK}; // the perm_status to stop with
    std::mutex callback_mutex_;
};

} // namespace libperm
