// What long loops call now and then: it throws once the call is to stop.
#pragma once

#include <cstdint>
#include <functional>

namespace libperm {

using Poll = std::function<void()>;
inline void no_poll() {}

// Polls once in so many steps, of some nanoseconds each: asking costs as much as a dozen.
class PolledSteps {
  public:
    static constexpr std::int64_t between = 1 << 16;

    explicit PolledSteps(const Poll &poll) : poll_(&poll) {}

    void take(std::int64_t steps = 1) {
        left_ -= steps;
        if (left_ > 0) return;
        left_ = between;
        (*poll_)();
    }

  private:
    const Poll *poll_;
    std::int64_t left_ = between;
};

} // namespace libperm
