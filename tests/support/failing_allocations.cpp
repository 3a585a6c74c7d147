#include "tests/support/failing_allocations.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> asked_for = 0, fails_at = -1, alive = 0;
std::atomic<bool> is_armed = false, counts = false;

bool fails() {
    if (!counts.load(std::memory_order_relaxed)) return false;
    return asked_for++ == fails_at;
}

} // namespace

namespace failing {

void arm(std::int64_t k) {
    asked_for = 0;
    fails_at = k;
    is_armed = true;
}

void count(bool on) { counts = on && is_armed; }

std::int64_t disarm() {
    is_armed = false;
    return asked_for;
}

std::int64_t blocks() { return alive; }

} // namespace failing

#ifndef PERM_SANITIZED

// The program's malloc, which all libraries use, is glibc's with a count.
extern "C" {

void *__libc_malloc(std::size_t);
void *__libc_calloc(std::size_t, std::size_t);
void *__libc_realloc(void *, std::size_t);
void *__libc_memalign(std::size_t, std::size_t);
void __libc_free(void *);

static void *counted(void *block) {
    if (block) ++alive;
    return block;
}

static void *refused() {
    errno = ENOMEM;
    return nullptr;
}

void *malloc(std::size_t bytes) noexcept { return fails() ? refused() : counted(__libc_malloc(bytes)); }
void *calloc(std::size_t n, std::size_t bytes) noexcept {
    return fails() ? refused() : counted(__libc_calloc(n, bytes));
}
void *realloc(void *block, std::size_t bytes) noexcept {
    if (fails()) return refused();
    void *moved = __libc_realloc(block, bytes);
    return block ? moved : counted(moved);
}
void *memalign(std::size_t alignment, std::size_t bytes) noexcept {
    return fails() ? refused() : counted(__libc_memalign(alignment, bytes));
}
void *aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept { return memalign(alignment, bytes); }
int posix_memalign(void **to, std::size_t alignment, std::size_t bytes) noexcept {
    *to = memalign(alignment, bytes);
    return *to ? 0 : ENOMEM;
}
void free(void *block) noexcept {
    if (block) --alive;
    __libc_free(block);
}
}

#else

void *operator new(std::size_t bytes) {
    if (void *block = fails() ? nullptr : std::malloc(bytes > 0 ? bytes : 1)) return block;
    throw std::bad_alloc();
}
void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept {
    return fails() ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
}
void operator delete(void *block) noexcept { std::free(block); }
void operator delete(void *block, std::size_t) noexcept { std::free(block); }

#endif
