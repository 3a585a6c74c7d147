#include "lib/number/residues.hpp"

#include "lib/base/error.hpp"
#include "lib/number/montgomery.hpp"

namespace libperm {

bool is_prime(std::uint64_t n) {
    const mpz_class candidate = n;
    return mpz_probab_prime_p(candidate.get_mpz_t(), 30) != 0; // certain, for 64 bits
}

std::vector<std::uint64_t> primes_below(int bits, std::size_t count, bool gaussian, const Poll &poll) {
    const std::uint64_t step = gaussian ? 4 : 2;
    std::vector<std::uint64_t> primes;
    for (std::uint64_t p = (std::uint64_t{1} << bits) - step + 1; primes.size() < count * (gaussian ? 2 : 1);
         p -= step) {
        if (p < step) throw Error(PERM_INTERNAL, "there are not that many primes");
        poll();
        if (!is_prime(p)) continue;
        primes.push_back(p);
        if (gaussian) primes.push_back(p);
    }
    return primes;
}

std::uint64_t square_root_of_minus_one(std::uint64_t p) {
    const Montgomery field(p);
    const std::uint64_t minus_one = field.to(p - 1);
    for (std::uint64_t x = 2;; ++x) { // a^((p - 1) / 4), where a is no square
        const std::uint64_t root = field.power(field.to(x), (p - 1) / 4);
        if (field.multiply(root, root) == minus_one) return field.from(root);
    }
}

Residues residues_of(const Pattern &pattern, const std::vector<mpz_class> &re,
                     const std::vector<mpz_class> &im, std::vector<std::uint64_t> primes, const Poll &poll) {
    constexpr std::size_t between_polls = 1 << 16;
    Residues residues{pattern, std::move(primes), {}};
    for (std::size_t m = 0; m < residues.primes.size(); ++m) {
        poll();
        const std::uint64_t p = residues.primes[m];
        std::vector<std::uint64_t> values;
        values.reserve(re.size());
        for (const mpz_class &x : re) {
            if (values.size() % between_polls == 0) poll();
            values.push_back(mpz_fdiv_ui(x.get_mpz_t(), p));
        }
        if (!im.empty()) {
            const Montgomery field(p);
            const std::uint64_t root = square_root_of_minus_one(p), i = field.to(m % 2 ? p - root : root);
            for (std::size_t k = 0; k < values.size(); ++k)
                values[k] = field.add(values[k], field.multiply(mpz_fdiv_ui(im[k].get_mpz_t(), p), i));
        }
        residues.values.push_back(std::move(values));
    }
    return residues;
}

} // namespace libperm
