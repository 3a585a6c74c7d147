// What long loops and passes ask and tell: whether the call is to stop, and what they are going to hold.
#pragma once

#include <cstdint>
#include <utility>

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

// What a pass is going to hold is told before it is built, so that a limit is an answer and not the machine's
// memory.

class MemoryAccount {
  public:
    virtual void hold(std::int64_t bytes) = 0; // may throw: then nothing is held
    virtual void let_go(std::int64_t bytes) noexcept = 0;

  protected:
    MemoryAccount() = default;
    MemoryAccount(const MemoryAccount &) = default;
    MemoryAccount &operator=(const MemoryAccount &) = default;
    ~MemoryAccount() = default;
};

// Bytes held as long as it lives. Of no account: nobody counts.
class Charge {
  public:
    Charge() = default;
    explicit Charge(MemoryAccount *account, std::int64_t bytes = 0) : account_(account) { resize(bytes); }
    Charge(Charge &&other) noexcept
        : account_(std::exchange(other.account_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Charge &operator=(Charge &&other) noexcept {
        std::swap(account_, other.account_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Charge() {
        if (account_ && bytes_ > 0) account_->let_go(bytes_);
    }

    // Throws what the account does; then it is as it was.
    void resize(std::int64_t bytes) {
        if (account_ && bytes > bytes_) account_->hold(bytes - bytes_);
        if (account_ && bytes < bytes_) account_->let_go(bytes_ - bytes);
        bytes_ = bytes;
    }
    void grow(std::int64_t bytes) { resize(bytes_ + bytes); }
    std::int64_t bytes() const { return bytes_; }

  private:
    MemoryAccount *account_ = nullptr;
    std::int64_t bytes_ = 0;
};

} // namespace libperm
