// Dense matrices modulo primes for tests of quasi-separable ones: their permanents over sets, and what
// generators say of them.
#pragma once

#include "bench/families.hpp"
#include "lib/number/residues.hpp"
#include "lib/structure/separable/walk.hpp"
#include "preprocess/index.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

namespace libperm {

using perm::families::Random;

constexpr std::uint64_t large_prime = (std::uint64_t{1} << 62) - 57;
constexpr std::array<std::uint64_t, 5> primes{5, 101, 1009, (std::uint64_t{1} << 61) - 1, large_prime};

inline void tell_nobody(double) {}

inline DenseResidues matrix_of(std::size_t n, std::uint64_t prime,
                               const std::function<std::int64_t(std::int64_t, std::int64_t)> &entry) {
    DenseResidues matrix{n, prime, {}};
    const auto p = static_cast<std::int64_t>(prime);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            const std::int64_t x = entry(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)) % p;
            matrix.values.push_back(static_cast<std::uint64_t>(x < 0 ? x + p : x));
        }
    return matrix;
}

// x_i z_(i+1) ... z_(j-1) y_j, where i < j, or the other way round: blocks of rank 1, of which some z are 0.
class Chain {
  public:
    Chain(std::int64_t n, Random &random) {
        for (std::int64_t i = 0; i < n; ++i) {
            x_.push_back(random.integer(-2, 2));
            y_.push_back(random.integer(-2, 2));
            z_.push_back(random.integer(-1, 2));
        }
    }

    std::int64_t entry(std::int64_t i, std::int64_t j) const {
        const auto [first, last] = std::minmax(i, j);
        std::int64_t product = x_[at(first)] * y_[at(last)];
        for (std::int64_t l = first + 1; l < last; ++l) product *= z_[at(l)];
        return product;
    }

  private:
    std::vector<std::int64_t> x_, y_, z_;
};

// Row by row, over sets of columns.
inline std::uint64_t by_sets(const DenseResidues &a) {
    const Montgomery field(a.prime);
    std::vector<std::uint64_t> sums(std::size_t{1} << a.n, 0);
    sums[0] = field.to(1);
    for (std::size_t set = 1; set < sums.size(); ++set) {
        std::size_t row = 0;
        for (std::size_t j = 0; j < a.n; ++j) row += set >> j & 1;
        for (std::size_t j = 0; j < a.n; ++j)
            if ((set >> j & 1) != 0)
                sums[set] = field.add(sums[set], field.multiply(sums[set ^ std::size_t{1} << j],
                                                                field.to(a.values[(row - 1) * a.n + j])));
    }
    return field.from(sums.back());
}

// What generators say that an entry is, i before j.
inline std::uint64_t entry_of(const Triangle &triangle, std::uint64_t prime, std::size_t i, std::size_t j) {
    if (j - i <= triangle.width) return triangle.near[j][j - i - 1];
    const Montgomery field(prime);
    unsigned ended = 0;
    i += triangle.width;
    for (std::size_t k = i; k < j; ++k) ended |= triangle.ends[k];
    std::uint64_t sum = 0;
    for (std::size_t t = 0; t < triangle.kinds; ++t)
        if ((ended >> t & 1) == 0)
            sum = field.add(sum,
                            field.multiply(field.to(triangle.opens[i][t]), field.to(triangle.closes[j][t])));
    return field.from(sum);
}

inline bool generate(const Generators &generators, const DenseResidues &matrix, const LineOrder &order) {
    for (std::size_t i = 0; i < order.rows.size(); ++i)
        for (std::size_t j = 0; j < order.cols.size(); ++j) {
            if (order.rows[i] == no_line || order.cols[j] == no_line) continue;
            const std::uint64_t x = i == j  ? generators.diagonal[i]
                                    : i < j ? entry_of(generators.above, matrix.prime, i, j)
                                            : entry_of(generators.below, matrix.prime, j, i);
            if (x != matrix.values[order.rows[i] * matrix.n + order.cols[j]]) return false;
        }
    return true;
}

// Checks what is found against the matrix and its permanent.
inline void check_found(const Generators &found, const DenseResidues &matrix, const LineOrder &order) {
    CHECK(generate(found, matrix, order));
    CHECK(separable_permanent(found, tell_nobody) == by_sets(matrix));
}

// In one of three styles: any, small, and mostly 0.
inline std::uint64_t random_residue(std::uint64_t prime, int style, Random &random) {
    if (style == 0) return random.bits() % prime;
    const std::int64_t x = style == 1           ? random.integer(-2, 2)
                           : random.chance(0.4) ? random.integer(-1, 1)
                                                : 0;
    return x < 0 ? prime - static_cast<std::uint64_t>(-x) : static_cast<std::uint64_t>(x);
}

inline std::int64_t distance(std::int64_t i, std::int64_t j) { return std::abs(i - j); }

} // namespace libperm
