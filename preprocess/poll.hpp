// What long loops call now and then: it throws once the call that this thread works for is to stop.
#pragma once

#include <cstdint>

namespace libperm {

class Call;

// What a thread works for.
class Polled {
  public:
    virtual void poll() = 0;
    virtual Call *call() { return nullptr; } // if it is one

  protected:
    Polled() = default;
    Polled(const Polled &) = default;
    Polled &operator=(const Polled &) = default;
    ~Polled() = default;
};

// Null: nobody can stop this thread.
Polled *polled_here();
Polled *set_polled_here(Polled *polled); // what it was before

// This thread works for it as long as the scope lasts; so do the threads of its parallel loops.
class PolledScope {
  public:
    explicit PolledScope(Polled *polled) : before_(set_polled_here(polled)) {}
    PolledScope(const PolledScope &) = delete;
    PolledScope &operator=(const PolledScope &) = delete;
    ~PolledScope() { set_polled_here(before_); }

  private:
    Polled *before_;
};

inline void poll() {
    if (Polled *const polled = polled_here()) polled->poll();
}

// Polls once in so many steps, of some nanoseconds each: asking costs as much as a dozen.
class PolledSteps {
  public:
    static constexpr std::int64_t between = 1 << 16;

    void take(std::int64_t steps = 1) {
        left_ -= steps;
        if (left_ > 0) return;
        left_ = between;
        poll();
    }

  private:
    std::int64_t left_ = between;
};

} // namespace libperm
