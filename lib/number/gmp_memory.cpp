#include "lib/number/gmp_memory.hpp"

#include <atomic>
#include <cstdlib>
#include <gmp.h>
#include <new>

// GMP's own, which it does not declare. NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void *__gmp_default_allocate(std::size_t);
void *__gmp_default_reallocate(void *, std::size_t, std::size_t);
void __gmp_default_free(void *, std::size_t);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace libperm {
namespace {

constexpr std::size_t kept_bytes =
    1 << 20; // numbers' sizes on a call's way to where it asks for memory itself

std::atomic<void *> kept = nullptr;

// Blocks stay malloc's, so that who gives GMP allocators later, or takes ours away, may free them.
template <class Allocate> void *allocated(const Allocate &allocate) {
    if (void *block = allocate()) return block;
    std::free(kept.exchange(nullptr));
    if (void *block = allocate()) return block;
    throw std::bad_alloc(); // through GMP's frames, which have unwind tables: it may leave a scratch block
                            // behind
}

extern "C" void *allocate_for_gmp(std::size_t bytes) {
    return allocated([&] { return std::malloc(bytes); });
}
extern "C" void *reallocate_for_gmp(void *block, std::size_t, std::size_t bytes) {
    return allocated([&] { return std::realloc(block, bytes); });
}
extern "C" void free_for_gmp(void *block, std::size_t) { std::free(block); }

// While the library is loaded.
class Allocators {
  public:
    Allocators() {
        mp_get_memory_functions(&allocate_, &reallocate_, &free_);
        if (allocate_ == __gmp_default_allocate && reallocate_ == __gmp_default_reallocate &&
            free_ == __gmp_default_free)
            mp_set_memory_functions(allocate_for_gmp, reallocate_for_gmp, free_for_gmp);
    }
    ~Allocators() {
        void *(*allocate)(std::size_t) = nullptr;
        mp_get_memory_functions(&allocate, nullptr, nullptr);
        if (allocate == allocate_for_gmp) mp_set_memory_functions(allocate_, reallocate_, free_);
        std::free(kept.exchange(nullptr));
    }
    Allocators(const Allocators &) = delete;
    Allocators &operator=(const Allocators &) = delete;

  private:
    void *(*allocate_)(std::size_t) = nullptr;
    void *(*reallocate_)(void *, std::size_t, std::size_t) = nullptr;
    void (*free_)(void *, std::size_t) = nullptr;
};

} // namespace

void keep_memory_for_gmp() {
    static const Allocators allocators;
    if (kept.load(std::memory_order_relaxed)) return;
    std::free(kept.exchange(std::malloc(kept_bytes)));
}

} // namespace libperm
