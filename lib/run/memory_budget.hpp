// The memory limit of one call, and arrays that are counted against it before they are allocated.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace libperm {

class MemoryBudget {
  public:
    explicit MemoryBudget(std::int64_t limit) : limit_(limit) {}
    void take(std::int64_t bytes); // throws Error (PERM_REFUSED_MEMORY)
    void give_back(std::int64_t bytes) noexcept { used_ -= bytes; }
    std::int64_t peak() const { return peak_; }
    std::int64_t limit() const { return limit_; }

  private:
    std::int64_t limit_;
    std::atomic<std::int64_t> used_{0}, peak_{0};
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
