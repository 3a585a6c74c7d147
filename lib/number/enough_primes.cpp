#include "lib/number/enough_primes.hpp"

#include "lib/number/residues.hpp"

#include <gmpxx.h>

namespace libperm {

std::vector<std::uint64_t> enough_primes(std::int64_t bits, int prime_bits, bool gaussian, const Poll &poll) {
    for (auto count = static_cast<std::size_t>((bits + 1) / prime_bits + 1);; ++count) {
        std::vector<std::uint64_t> primes = primes_below(prime_bits, count, gaussian, poll);
        mpz_class product = 1;
        for (std::size_t k = 0; k < primes.size(); k += gaussian ? 2 : 1) {
            poll();
            product *= static_cast<unsigned long>(primes[k]);
        }
        if (static_cast<std::int64_t>(mpz_sizeinbase(product.get_mpz_t(), 2)) > bits + 2) return primes;
    }
}

} // namespace libperm
