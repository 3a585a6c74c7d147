// Errors that name what they are about: the matrix of a batch, the engine that another may stand in for.
#pragma once

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/input/engine.hpp"

#include <cstdint>
#include <string_view>

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

// What an engine that divides says of a prime by which it cannot: by bad luck, or by one who chose the matrix
// for it. Another engine may compute the block.

class UnfitPrime : public Error {
  public:
    // `what`: it is a multiple of the prime, and not 0.
    UnfitPrime(Engine engine, std::string_view what)
        : Error(PERM_UNSUPPORTED,
                formatted("{} is a multiple of a prime that engine {} computes by: name another engine", what,
                          engine_name(engine))) {}
};

} // namespace libperm
