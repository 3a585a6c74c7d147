// Small random matrices of exact complex entries for the frontier, and of residues; with programs for them.
#pragma once

#include "bench/families.hpp"
#include "lib/frontier/forms.hpp"
#include "lib/run/results.hpp"
#include "preprocess/index.hpp"
#include "tests/support/exactly.hpp"

#include <algorithm>
#include <vector>

namespace wide {

using namespace libperm;
using perm::families::Random;
using Rows = std::vector<std::vector<Gaussian>>;

enum class Entries {
    nonnegative, // real, of 53 bits
    thirds,      // real rationals >= 0 that no double is
    real,
    complex,
    imaginary,
    units,      // 1, -1, i, -i
    far_apart,  // of sizes from 1e-300 to 1e300, complex
    far_signed, // the same, real
    cancelling, // real, all but opposite
    all
};
inline bool is_real(Entries e) {
    return e != Entries::complex && e != Entries::imaginary && e != Entries::units && e != Entries::far_apart;
}

// That hold such entries, beside doubles.
inline std::vector<Arithmetic> arithmetics(Entries kind) {
    if (is_real(kind)) return {Arithmetic::complex, Arithmetic::dd, Arithmetic::complex_dd};
    return {Arithmetic::complex, Arithmetic::complex_dd};
}

inline Gaussian entry(Entries kind, Random &random) {
    const auto uniform = [&](double low) { return mpq_class(random.uniform(low, 1)); };
    const auto far = [&] { return times_power(uniform(-1), random.integer(-997, 997)); };
    switch (kind) {
    case Entries::nonnegative:
        return {uniform(0), 0};
    case Entries::thirds:
        return {mpq_class(random.integer(1, 8)) / random.integer(3, 99), 0};
    case Entries::real:
        return {uniform(-1), 0};
    case Entries::complex:
        return {uniform(-1), uniform(-1) / 3};
    case Entries::imaginary:
        return {0, uniform(-1)};
    case Entries::units: {
        const int sign = random.chance(0.5) ? 1 : -1;
        return random.chance(0.5) ? Gaussian{sign, 0} : Gaussian{0, sign};
    }
    case Entries::far_apart:
        return {far(), random.chance(0.2) ? mpq_class(0) : far()};
    case Entries::far_signed:
        return {far(), 0};
    default:
        return {(random.chance(0.5) ? 1 : -1) * (1 + times_power(uniform(-1), -50)), 0};
    }
}

struct Case {
    Rows rows;
    ExactBlock block; // explicit zeros among it
    FrontierProgram program;

    Gaussian permanent() const { return oracle::by_subsets(rows); }
};

enum class Order { searched, shuffled };

// `density` of the places; `repeated`: some columns equal others, and are counted.
inline Case make_case(std::int64_t n, double density, Entries kind, bool repeated, Order how,
                      Random &random) {
    Case c;
    std::vector<std::int64_t> diagonal = random.permutation(n);
    std::vector<std::size_t> of_kind; // the lowest column that equals each
    for (std::size_t j = 0; j < at(n); ++j) of_kind.push_back(j);
    std::vector<std::vector<char>> present(at(n), std::vector<char>(at(n), 0));
    c.rows.assign(at(n), std::vector<Gaussian>(at(n)));
    for (std::size_t i = 0; i < at(n); ++i)
        for (std::size_t j = 0; j < at(n); ++j)
            if (at(diagonal[i]) == j || random.chance(density)) {
                present[i][j] = 1;
                if (at(diagonal[i]) == j || !random.chance(0.05)) c.rows[i][j] = entry(kind, random);
            }
    if (repeated)
        for (std::size_t j = 1; j < at(n); ++j)
            if (random.chance(0.6)) {
                const std::size_t lowest = of_kind[j] = of_kind[j - 1];
                for (std::size_t i = 0; i < at(n); ++i)
                    if (present[i][j] && is_zero(c.rows[i][lowest])) {
                        present[i][lowest] = 1;
                        c.rows[i][lowest] = c.rows[i][j];
                    }
            }
    for (std::size_t j = 0; j < at(n); ++j)
        for (std::size_t i = 0; i < at(n); ++i) {
            present[i][j] = present[i][of_kind[j]];
            c.rows[i][j] = c.rows[i][of_kind[j]];
        }
    Pattern &a = c.block.pattern;
    a.rows = a.cols = static_cast<std::int32_t>(n);
    for (std::size_t i = 0; i < at(n); ++i) {
        for (std::size_t j = 0; j < at(n); ++j)
            if (present[i][j]) {
                a.col.push_back(static_cast<std::int32_t>(j));
                c.block.values.push_back(c.rows[i][j]);
            }
        a.row_ptr.push_back(std::ssize(a.col));
    }
    LineClasses kinds;
    for (std::int32_t i = 0; repeated && i < n; ++i) {
        kinds.of_row.push_back(i);
        kinds.of_col.push_back(static_cast<std::int32_t>(of_kind[at(i)]));
    }
    const auto sides = frontier_sides(a, kinds);
    FrontierOrder order;
    if (how == Order::searched) order = find_frontier_order(sides, {});
    if (!order.feasible) {
        order = {};
        for (const std::int64_t i : random.permutation(n)) order.rows.push_back(static_cast<std::int32_t>(i));
    }
    c.program = build_frontier_program(sides[order.transposed ? 1 : 0], order);
    return c;
}

struct Budgets {
    MemoryBudget memory{std::int64_t{1} << 32};
};

inline Outcome run_wide(const WideEntries &entries, const FrontierProgram &program, FrontierForm form,
                        int threads = 1) {
    Budgets b;
    return outcome_of(run_frontier(form, {entries, program, b.memory, threads}));
}

inline std::vector<std::uint64_t> run_residues(const Residues &residues, const FrontierProgram &program,
                                               FrontierForm form, int threads = 1) {
    Budgets b;
    return std::get<ResidueVector>(run_frontier(form, {residues, program, b.memory, threads}).value);
}

// The largest ones.
inline std::vector<std::uint64_t> primes_below(int bits, std::size_t count) {
    std::vector<std::uint64_t> primes;
    mpz_class p = mpz_class(1) << static_cast<mp_bitcnt_t>(bits);
    for (--p; primes.size() < count; p -= 2)
        if (mpz_probab_prime_p(p.get_mpz_t(), 30) != 0) primes.push_back(p.get_ui());
    return primes;
}

inline std::uint64_t residue(const mpq_class &integer, std::uint64_t prime) {
    const mpz_class p(static_cast<unsigned long>(prime));
    mpz_class r;
    mpz_fdiv_r(r.get_mpz_t(), integer.get_num().get_mpz_t(), p.get_mpz_t());
    return r.get_ui();
}

// Of whole real entries.
inline Residues residues_of(const ExactBlock &block, const std::vector<std::uint64_t> &primes) {
    Residues r{block.pattern, primes, {}};
    for (const std::uint64_t p : primes) {
        r.values.emplace_back();
        for (const Gaussian &x : block.values) r.values.back().push_back(residue(x.re, p));
    }
    return r;
}

// Its entries become whole real numbers of so many bits; of none, 0 and 1.
inline void make_integer(Case &c, int bits) {
    const auto whole = [bits](Gaussian &x) {
        const mpz_class scaled =
            x.re.get_num() * (mpz_class(1) << static_cast<mp_bitcnt_t>(bits)) / x.re.get_den();
        x = {bits == 0 ? (x.re == 0 ? 0 : 1) : mpq_class(scaled), 0};
    };
    for (Gaussian &x : c.block.values) whole(x);
    for (auto &row : c.rows)
        for (Gaussian &x : row) whole(x);
}

} // namespace wide
