// Sums of residues in lanes, on every instruction set of this machine, against GMP: rows of any length, and
// the largest numbers that there can be.
#include "jit/lanes/residue_sums.hpp"
#include "tests/support/run.hpp"
#include "tests/support/simd_targets.hpp"

#include "bench/families.hpp"

#include <doctest/doctest.h>

#include <gmpxx.h>

#include <vector>

using namespace libperm;
using perm::families::Random;

TEST_CASE("sums modulo primes below 2^59, of none to hundreds of terms") {
    constexpr std::uint64_t whole = std::uint64_t{1} << residue_lane_bits;
    constexpr std::uint64_t largest = whole + (std::uint64_t{1} << 37) - 1;
    int compared = 0;
    for_each_target([&] {
        Random random(run::seed(0x6c616e65));
        ResidueLanes below;
        for (std::uint64_t &x : below.lane) x = random.uniform() < 0.3 ? most_below - 1 : random.bits() >> 33;
        std::vector<ResidueLanes> before(50);
        for (ResidueLanes &x : before)
            for (std::uint64_t &y : x.lane) y = random.uniform() < 0.5 ? largest : random.bits() % largest;
        std::vector<std::uint32_t> first{0}, source;
        for (const std::uint32_t terms : {0u, 1u, 2u, 3u, 30u, 31u, 32u, 60u, 61u, 62u, 91u, 500u}) {
            for (std::uint32_t k = 0; k < terms; ++k)
                source.push_back(static_cast<std::uint32_t>(random.integer(0, 49)));
            first.push_back(static_cast<std::uint32_t>(source.size()));
        }
        std::vector<ResidueLanes> after(first.size() - 1);
        add_up_residues(first.data(), source.data(), 0, 5, below, before.data(), after.data());
        add_up_residues(first.data(), source.data(), 5, after.size(), below, before.data(), after.data());
        for (std::size_t t = 0; t < after.size(); ++t)
            for (std::size_t lane = 0; lane < residue_lanes; ++lane) {
                mpz_class sum = 0;
                for (std::uint32_t m = first[t]; m < first[t + 1]; ++m) sum += before[source[m]].lane[lane];
                const mpz_class p = whole - below.lane[lane];
                CHECK(sum % p == mpz_class(after[t].lane[lane]) % p);
                CHECK(after[t].lane[lane] <= largest);
                ++compared;
            }
    });
    CHECK(compared > 0);
}
