// Graphs with numbers for the tests of hafnians, and the definition in rationals.
#pragma once

#include "bench/families.hpp"
#include "lib/run/results.hpp"
#include "preprocess/block.hpp"
#include "preprocess/index.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/gaussian_blocks.hpp"

#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

namespace graphs {

using libperm::ExactBlock, libperm::Gaussian, libperm::Pattern;
using perm::families::Random;

using libperm::at;

// Its entries are those, i <= j, that has() names.
inline Pattern pattern(std::int32_t n, const std::function<bool(std::int32_t, std::int32_t)> &has) {
    Pattern p;
    p.rows = p.cols = n;
    p.one_sided = true;
    for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t j = i; j < n; ++j)
            if (has(i, j)) p.col.push_back(j);
        p.row_ptr.push_back(static_cast<std::int64_t>(p.col.size()));
    }
    return p;
}
inline Pattern complete(std::int32_t n, bool with_loops) {
    return pattern(n, [=](std::int32_t i, std::int32_t j) { return i < j || with_loops; });
}
inline Pattern random_pattern(std::int32_t n, bool with_loops, double density, Random &random) {
    return pattern(
        n, [&](std::int32_t i, std::int32_t j) { return (i < j || with_loops) && random.chance(density); });
}

inline ExactBlock with_numbers(Pattern graph, Complexes entries, Random &random) {
    ExactBlock block{std::move(graph), {}};
    for (std::size_t k = 0; k < block.pattern.col.size(); ++k)
        block.values.push_back(random_complex(entries, random));
    return block;
}

// The sum over all matchings, loops being those of one line with itself; of rings with + and *.
template <class Number>
Number hafnian(const Pattern &graph, const std::vector<Number> &values, const Number &zero,
               const Number &one) {
    const std::int32_t n = graph.rows;
    std::vector<std::vector<Number>> a(at(n), std::vector<Number>(at(n), zero));
    std::size_t k = 0;
    for (std::int32_t i = 0; i < n; ++i)
        for (const std::int32_t j : graph.row(i)) a[at(i)][at(j)] = values[k++];
    std::vector<Number> of_set(std::size_t{1} << n, zero);
    of_set[0] = one;
    for (std::size_t set = 1; set < of_set.size(); ++set) {
        const int first = std::countr_zero(set);
        const std::size_t rest = set & (set - 1);
        Number &sum = of_set[set];
        if (!(a[at(first)][at(first)] == zero)) sum = a[at(first)][at(first)] * of_set[rest];
        for (int j = first + 1; j < n; ++j) {
            const std::size_t bit = std::size_t{1} << j;
            if ((rest & bit) == 0 || of_set[rest ^ bit] == zero || a[at(first)][at(j)] == zero) continue;
            sum = sum + a[at(first)][at(j)] * of_set[rest ^ bit];
        }
    }
    return of_set.back();
}
inline Gaussian hafnian(const ExactBlock &block) {
    return hafnian<Gaussian>(block.pattern, block.values, {0, 0}, {1, 0});
}

inline Gaussian value_of(const libperm::Outcome &x) {
    return x.wide ? *x.wide : Gaussian{exactly(x.value), 0};
}

// To the last bit.
inline bool same(const libperm::Outcome &x, const libperm::Outcome &y) {
    return value_of(x) == value_of(y) && x.error.mantissa == y.error.mantissa && x.error.exp2 == y.error.exp2;
}

// A number modulo a prime.
struct Modulo {
    std::uint64_t value, prime;
    friend bool operator==(const Modulo &x, const Modulo &y) { return x.value == y.value; }
    friend Modulo operator+(const Modulo &x, const Modulo &y) {
        return {(x.value + y.value) % x.prime, x.prime};
    }
    friend Modulo operator*(const Modulo &x, const Modulo &y) {
        __extension__ typedef unsigned __int128 Wide;
        return {static_cast<std::uint64_t>(static_cast<Wide>(x.value) * y.value % x.prime), x.prime};
    }
};

} // namespace graphs
