#include "lib/memory_budget.hpp"

#include "lib/error.hpp"
#include "lib/system.hpp"

namespace libperm {

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
