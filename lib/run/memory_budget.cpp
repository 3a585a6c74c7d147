#include "lib/run/memory_budget.hpp"

#include "lib/base/error.hpp"
#include "lib/base/system.hpp"

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

namespace {

std::string in_words(std::int64_t bytes) { return readable_bytes(static_cast<double>(bytes)); }

} // namespace

void MemoryBudget::change(std::int64_t taken, std::int64_t held) {
    const std::lock_guard lock(mutex_);
    const std::int64_t used = counted(taken_ + taken, held_ + held);
    if (taken + held > 0 && used > limit_)
        throw Error(PERM_REFUSED_MEMORY, "the work has come to need " + in_words(used) +
                                             ", more than the memory limit of " + in_words(limit_) +
                                             "; allow more with memory_limit_bytes");
    taken_ += taken;
    held_ += held;
    peak_ = std::max(peak_, used);
}

void MemoryBudget::require(std::int64_t bytes, const std::string &what) const {
    const std::lock_guard lock(mutex_);
    const std::int64_t used = counted(taken_, held_ + bytes);
    if (used > limit_)
        throw Error(PERM_REFUSED_MEMORY, what + " is predicted to need " + in_words(used) + " of memory, " +
                                             in_words(limit_) +
                                             " is the limit; allow more with memory_limit_bytes");
}

std::int64_t MemoryBudget::room() const {
    const std::lock_guard lock(mutex_);
    const std::int64_t left = limit_ - taken_;
    return held_ > unnoticed_bytes ? left - (held_ - unnoticed_bytes) : left;
}

std::int64_t MemoryBudget::peak() const {
    const std::lock_guard lock(mutex_);
    return peak_;
}

} // namespace libperm
