// The memory limit of one call, and arrays that are counted against it before they are allocated.
#pragma once

#include "preprocess/limits.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace libperm {

// One account for all of a call: tables and buffers take from it what they allocate, planning, reductions and
// exact numbers hold what they are about to build. The first `unnoticed_bytes` that are held are not counted:
// a small matrix has its whole limit for tables, and so the slices that were planned.
class MemoryBudget final : public MemoryAccount {
  public:
    static constexpr std::int64_t unnoticed_bytes = std::int64_t{1} << 24;

    explicit MemoryBudget(std::int64_t limit) : limit_(limit) {}
    void take(std::int64_t bytes) { change(bytes, 0); } // throws Error (PERM_REFUSED_MEMORY)
    void give_back(std::int64_t bytes) noexcept { change(-bytes, 0); }
    void hold(std::int64_t bytes) override { change(0, bytes); } // throws the same
    void let_go(std::int64_t bytes) noexcept override { change(0, -bytes); }

    // Throws what holding so much more would; `what` is to begin the text: "reducing a matrix of ... ".
    void require(std::int64_t bytes, const std::string &what) const;

    std::int64_t peak() const; // counted against the limit
    std::int64_t limit() const { return limit_; }
    std::int64_t room() const; // that may still be held

  private:
    void change(std::int64_t taken, std::int64_t held);
    static std::int64_t counted(std::int64_t taken, std::int64_t held) {
        return taken + std::max<std::int64_t>(0, held - unnoticed_bytes);
    }

    const std::int64_t limit_;
    mutable std::mutex mutex_;
    std::int64_t taken_ = 0, held_ = 0, peak_ = 0;
};

// Asks for large pages: a table of gigabytes is otherwise filled with a page fault every 4 kB.
void use_large_pages(void *data, std::size_t bytes) noexcept;

// A growing array of plain values. On realloc: the system moves the pages of a large block without copying
// it, so growing does not need the old and the new block at once.
template <class T> class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    explicit Buffer(MemoryBudget &budget) : budget_(&budget) {}
    Buffer(Buffer &&other) noexcept
        : budget_(other.budget_),
          data_(std::exchange(other.data_, nullptr)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    Buffer &operator=(Buffer &&other) noexcept {
        std::swap(budget_, other.budget_);
        std::swap(data_, other.data_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }
    ~Buffer() { release(); }

    T *data() { return data_; }
    const T *data() const { return data_; }
    std::size_t capacity() const { return capacity_; }

    // At least `size` elements; those there are kept, new ones are not initialised.
    void grow(std::size_t size) {
        if (size <= capacity_) return;
        const auto bytes = static_cast<std::int64_t>((size - capacity_) * sizeof(T));
        budget_->take(bytes);
        void *moved = std::realloc(static_cast<void *>(data_), size * sizeof(T));
        if (!moved) {
            budget_->give_back(bytes);
            throw std::bad_alloc();
        }
        data_ = static_cast<T *>(moved);
        capacity_ = size;
        use_large_pages(data_, capacity_ * sizeof(T));
    }

    void release() noexcept {
        std::free(static_cast<void *>(data_));
        budget_->give_back(static_cast<std::int64_t>(capacity_ * sizeof(T)));
        data_ = nullptr;
        capacity_ = 0;
    }

  private:
    MemoryBudget *budget_;
    T *data_ = nullptr;
    std::size_t capacity_ = 0;
};

} // namespace libperm
