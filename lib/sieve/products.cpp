#include "lib/sieve/products.hpp"

#include <utility>

namespace libperm {

SieveProducts::SieveProducts(const SieveProgram &program) : program_(program) {
    for (const SieveProgram::Exponent &e : program.exponents) {
        std::vector<mpz_class> powers{1};
        while (powers.size() < e.radix) powers.push_back(powers.back() * e.prime);
        powers_.push_back(std::move(powers));
    }
}

mpz_class SieveProducts::of(std::uint64_t key) const {
    mpz_class product = 1;
    for (std::size_t k = 0; k < powers_.size(); ++k) {
        const SieveProgram::Exponent &e = program_.exponents[k];
        const auto code = static_cast<std::uint32_t>(key >> (32 * e.code));
        product *= powers_[k][code / e.stride % e.radix];
    }
    return product;
}

} // namespace libperm
