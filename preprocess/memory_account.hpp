// What a pass is going to hold is told before it is built, so that a limit is an answer and not the machine's
// memory.
#pragma once

#include <cstdint>
#include <utility>

namespace libperm {

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
