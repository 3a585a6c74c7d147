#include "lib/run/memory_budget.hpp"

#include "lib/base/error.hpp"
#include "lib/base/system.hpp"

#include <cstdint>
#include <sys/mman.h>

namespace libperm {

void use_large_pages(void *data, std::size_t bytes) noexcept {
    constexpr std::size_t large = std::size_t{1} << 21;
    if (bytes < 4 * large) return;
    const std::size_t skipped = large - reinterpret_cast<std::uintptr_t>(data) % large;
    const std::size_t whole = (bytes - skipped) / large * large;
    // Advice: where the system does not take it, all works as before.
    static_cast<void>(madvise(static_cast<char *>(data) + skipped, whole, MADV_HUGEPAGE));
}

void MemoryBudget::take(std::int64_t bytes) {
    const std::int64_t used = used_.fetch_add(bytes) + bytes;
    if (used > limit_) {
        used_ -= bytes;
        throw Error(PERM_REFUSED_MEMORY,
                    "the work has come to need " + readable_bytes(static_cast<double>(used)) +
                        ", more than the memory limit of " + readable_bytes(static_cast<double>(limit_)) +
                        "; allow more with memory_limit_bytes");
    }
    for (std::int64_t peak = peak_; used > peak && !peak_.compare_exchange_weak(peak, used);) {
    }
}

} // namespace libperm
