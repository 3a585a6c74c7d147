// What an engine that divides says of a prime by which it cannot: by bad luck, or by one who chose the matrix
// for it. Another engine may compute the block.
#pragma once

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/input/engine.hpp"

#include <string_view>

namespace libperm {

class UnfitPrime : public Error {
  public:
    // `what`: it is a multiple of the prime, and not 0.
    UnfitPrime(Engine engine, std::string_view what)
        : Error(PERM_UNSUPPORTED,
                formatted("{} is a multiple of a prime that engine {} computes by: name another engine", what,
                          engine_name(engine))) {}
};

} // namespace libperm
