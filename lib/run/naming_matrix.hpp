// Which matrix of a batch an error is about.
#pragma once

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"

#include <cstdint>

namespace libperm {

// `work` for matrix k, which is named by what it throws, but for what ends the whole call. `is_named`: else
// the caller has no batch.
template <class Work> void naming_matrix(std::int64_t k, bool is_named, const Work &work) {
    if (!is_named) return work();
    try {
        work();
    } catch (const Error &error) {
        if (error.status() == PERM_CANCELLED || error.status() == PERM_REFUSED_TIME) throw;
        throw Error(error.status(), formatted("matrix {} of the batch: {}", k, error.what()));
    }
}

} // namespace libperm
