#include "lib/number/residues.hpp"

#include "lib/base/error.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace libperm {

namespace {

constexpr std::array<std::uint64_t, 15> small_primes{3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};

// Whether an odd n behaves to the base b as a prime does (Rabin, J. Number Theory 12 (1980)).
bool passes(const Montgomery &field, std::uint64_t b) {
    const std::uint64_t n = field.prime(), one = field.to(1), minus_one = field.to(n - 1);
    const int twos = std::countr_zero(n - 1);
    if (b % n == 0) return true;
    std::uint64_t x = field.power(field.to(b), (n - 1) >> twos);
    if (x == one || x == minus_one) return true;
    for (int k = 1; k < twos; ++k) {
        x = field.multiply(x, x);
        if (x == minus_one) return true;
    }
    return false;
}

// Whether an odd n from 3 on is prime. No composite number below 3 10^23 passes for the first 12 primes
// (Sorenson and Webster, Math. Comp. 86 (2017)).
bool is_odd_prime(std::uint64_t n) {
    for (const std::uint64_t p : small_primes)
        if (n % p == 0) return n == p;
    const Montgomery field(n);
    constexpr std::size_t bases = 11; // and 2
    return passes(field, 2) && std::all_of(small_primes.begin(), small_primes.begin() + bases,
                                           [&](std::uint64_t b) { return passes(field, b); });
}

// Finds the first `wanted` primes among so many candidates highest, highest - step, ...
std::vector<std::uint64_t> primes_among(std::uint64_t highest, std::uint64_t step, std::uint64_t candidates,
                                        std::size_t wanted) {
    std::vector<std::uint64_t> primes;
    for (std::uint64_t k = 0; k < candidates && primes.size() < wanted; ++k)
        if (const std::uint64_t n = highest - k * step; is_odd_prime(n)) {
            poll();
            primes.push_back(n);
        }
    return primes;
}

} // namespace

bool is_prime(std::uint64_t n) {
    if (n < 3 || n % 2 == 0) return n == 2;
    return is_odd_prime(n);
}

std::vector<std::uint64_t> primes_below(int bits, std::size_t count, bool gaussian) {
    constexpr std::uint64_t piece = 1024, most_pieces = 64; // candidates of a thread, and threads' pieces
    const std::uint64_t step = gaussian ? 4 : 2;
    std::vector<std::uint64_t> primes;
    std::uint64_t next = (std::uint64_t{1} << bits) - step + 1, left = next / step;
    while (primes.size() < count) {
        if (left == 0) throw Error(PERM_INTERNAL, "there are not that many primes");
        // About one in 43 is a prime, near 2^62.
        const std::uint64_t wanted = 43 / step * (count - primes.size()) / piece,
                            pieces = std::clamp<std::uint64_t>(wanted, 1, most_pieces);
        std::vector<std::vector<std::uint64_t>> found(pieces);
        const auto search = [&](std::uint64_t k) {
            if (const std::uint64_t before = k * piece; before < left)
                found[k] = primes_among(next - before * step, step, std::min(piece, left - before),
                                        count - primes.size());
        };
        if (pieces == 1)
            search(0);
        else
            parallel_for(pieces, search);
        for (const auto &some : found) primes.insert(primes.end(), some.begin(), some.end());
        const std::uint64_t done = std::min(left, pieces * piece);
        next -= done * step;
        left -= done;
    }
    primes.resize(count);
    if (!gaussian) return primes;
    std::vector<std::uint64_t> twice;
    for (const std::uint64_t p : primes) twice.insert(twice.end(), {p, p});
    return twice;
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
                     const std::vector<mpz_class> &im, std::vector<std::uint64_t> primes) {
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
