#include "lib/number/enough_primes.hpp"

#include "lib/number/residues.hpp"

#include <algorithm>
#include <gmpxx.h>

namespace libperm {

std::vector<std::uint64_t> enough_primes(std::int64_t bits, const WhichPrimes &which) {
    const auto is_left_out = [&which](std::uint64_t prime) {
        return std::find(which.left_out.begin(), which.left_out.end(), prime) != which.left_out.end();
    };
    for (auto count = static_cast<std::size_t>((bits + 1) / which.bits + 1);; ++count) {
        std::vector<std::uint64_t> primes = primes_below(which.bits, count, which.gaussian);
        primes.erase(std::remove_if(primes.begin(), primes.end(), is_left_out), primes.end());
        mpz_class product = 1;
        for (std::size_t k = 0; k < primes.size(); k += which.gaussian ? 2 : 1) {
            poll();
            product *= static_cast<unsigned long>(primes[k]);
        }
        if (static_cast<std::int64_t>(mpz_sizeinbase(product.get_mpz_t(), 2)) > bits + 2) return primes;
    }
}

} // namespace libperm
