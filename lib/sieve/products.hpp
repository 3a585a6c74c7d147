// The products that codes tell of.
#pragma once

#include "jit/program/sieve.hpp"

#include <gmpxx.h>

#include <cstdint>
#include <vector>

namespace libperm {

class SieveProducts {
  public:
    // The program outlives it.
    explicit SieveProducts(const SieveProgram &program);

    // `key`: the codes without the sign, the second in the upper half.
    mpz_class of(std::uint64_t key) const;

  private:
    const SieveProgram &program_;
    std::vector<std::vector<mpz_class>> powers_; // by exponent of the program, then by power
};

} // namespace libperm
