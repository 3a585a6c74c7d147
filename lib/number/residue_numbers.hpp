// Residues as states carry them: of K matrices at once, each modulo its own prime p < 2^62.
//
// Every product is one with an entry: with floor(2^64 a / p) beside a, a x - floor(x floor(2^64 a / p) /
// 2^64) p lies in 0 .. 2p - 1 for every x < 2^64 (Shoup; Harvey, J. Symbolic Comput. 60 (2014), Theorem 1).
// So the states are kept below 2p.
#pragma once

#include "lib/number/residues.hpp"
#include "lib/number/state_number.hpp"
#include "preprocess/frontier_program.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace libperm {

constexpr int residue_bits = 62;    // primes lie below 2^62
constexpr int residues_at_once = 4; // matrices, at most

// Of so many matrices those that are done at once: what is left of a pass is filled up.
constexpr int residue_pass(int matrices) { return matrices <= 2 ? matrices : residues_at_once; }

template <int K> class ResidueNumbers {
    __extension__ typedef unsigned __int128 Wide;
    using Word = std::uint64_t;

  public:
    using Number = std::array<Word, K>; // below 2p
    struct Factor {
        Number value, quotient; // a, floor(2^64 a / p)
    };
    static constexpr bool is_slow = false;
    template <class Work> static void with(const Work &work) { work(); }

    ResidueNumbers(const Residues &residues, std::size_t first) {
        for (std::size_t k = 0; k < K; ++k) {
            const std::size_t matrix = std::min(first + k, residues.primes.size() - 1);
            prime_[k] = residues.primes[matrix];
            values_[k] = residues.values[matrix].data();
        }
    }

    const std::vector<Factor> &begin_step(const FrontierStep &step) {
        factors_.clear();
        for (const FrontierTerm &t : step.terms) {
            Number a;
            for (std::size_t k = 0; k < K; ++k) a[k] = t.entry < 0 ? 1 : values_[k][t.entry];
            factors_.push_back(factor(a));
        }
        return factors_;
    }
    Factor times(const Factor &x, std::int32_t copies) const {
        Number a;
        for (std::size_t k = 0; k < K; ++k)
            a[k] = static_cast<Word>(Wide{x.value[k]} * static_cast<Word>(copies) % prime_[k]);
        return factor(a);
    }

    static Number zero() { return {}; }
    static Number one() {
        Number x;
        x.fill(1);
        return x;
    }
    Number add(Number x, const Number &y) const {
        for (std::size_t k = 0; k < K; ++k) {
            x[k] += y[k];
            x[k] = std::min(x[k], x[k] - 2 * prime_[k]); // below 0 is far above
        }
        return x;
    }
    Number multiply(const Factor &a, Number x) const {
        for (std::size_t k = 0; k < K; ++k) {
            const auto q = static_cast<Word>(Wide{a.quotient[k]} * x[k] >> 64);
            x[k] = a.value[k] * x[k] - q * prime_[k];
        }
        return x;
    }

    static Extent extent_of(const Number *, std::size_t) { return {}; }
    void end_step(double, double, const Extent &) {}

    JoinScales begin_join(const ResidueNumbers &, double, double) { return {0, 0}; }
    static bool is_zero(const Number &x) { return x == Number{}; }
    static Number scaled(const Number &x, int) { return x; } // by 2^0
    Factor factor_of(const Number &x, int) const { return factor(close(x)); }

    Word prime() const { return prime_[0]; } // of the first matrix

    Number close(Number last) const {
        for (std::size_t k = 0; k < K; ++k) last[k] = std::min(last[k], last[k] - prime_[k]);
        return last;
    }

  private:
    Factor factor(const Number &a) const {
        Factor f{a, {}};
        for (std::size_t k = 0; k < K; ++k) f.quotient[k] = static_cast<Word>((Wide{a[k]} << 64) / prime_[k]);
        return f;
    }

    Number prime_;
    std::array<const Word *, K> values_;
    std::vector<Factor> factors_;
};

// What run(numbers) comes to modulo each prime, of so many matrices at a time; numbers: ResidueNumbers<1>,
// <2> or <4>.
template <class Run>
std::vector<std::uint64_t> in_passes(const Residues &residues, std::size_t at_once, const Run &run) {
    std::vector<std::uint64_t> all;
    const std::size_t matrices = residues.primes.size();
    const auto pass = [&](auto &&numbers) {
        const auto few = numbers.close(run(numbers));
        const std::size_t left = std::min(matrices - all.size(), few.size());
        all.insert(all.end(), few.begin(), few.begin() + static_cast<std::ptrdiff_t>(left));
    };
    while (all.size() < matrices) {
        const std::size_t left = std::min(at_once, matrices - all.size());
        if (left == 1)
            pass(ResidueNumbers<1>(residues, all.size()));
        else if (left == 2)
            pass(ResidueNumbers<2>(residues, all.size()));
        else
            pass(ResidueNumbers<residues_at_once>(residues, all.size()));
    }
    return all;
}

} // namespace libperm
