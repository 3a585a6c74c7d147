#include "tests/support/gaussian_blocks.hpp"

#include <algorithm>
#include <cmath>

using libperm::ExactBlock, libperm::Gaussian;
using oracle::GaussianMatrix;
using perm::families::Random;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

double sign(Random &random) { return random.chance(0.5) ? 1 : -1; }

ExactBlock block_of(const GaussianMatrix &a, const auto &stored) {
    const auto n = static_cast<std::int32_t>(a.size());
    ExactBlock block{{n, n, {0}, {}}, {}};
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < a.size(); ++j) {
            if (!stored(i, j)) continue;
            block.pattern.col.push_back(static_cast<std::int32_t>(j));
            block.values.push_back(a[i][j]);
        }
        block.pattern.row_ptr.push_back(static_cast<std::int64_t>(block.pattern.col.size()));
    }
    return block;
}

std::vector<std::int32_t> lowest_equal(const GaussianMatrix &rows) {
    std::vector<std::int32_t> lowest;
    for (const auto &row : rows)
        lowest.push_back(static_cast<std::int32_t>(std::find(rows.begin(), rows.end(), row) - rows.begin()));
    return lowest;
}

} // namespace

bool all_real(Complexes entries) { return entries == Complexes::reals || entries == Complexes::positive; }

Gaussian random_complex(Complexes entries, Random &random) {
    const auto x = [&] { return random.uniform(-1, 1); };
    const auto digit = [&] { return mpq_class(static_cast<long>(random.integer(-9, 9))); };
    switch (entries) {
    case Complexes::reals:
        return {x(), 0};
    case Complexes::positive:
        return {1 - random.uniform(), 0};
    case Complexes::imaginary:
        return {0, x()};
    case Complexes::integers:
        return {digit(), digit()};
    case Complexes::rationals:
        return {digit() / static_cast<long>(random.integer(1, 99)),
                digit() / static_cast<long>(random.integer(1, 99))};
    case Complexes::wide: {
        const double size = std::pow(10.0, random.uniform(-300, 300));
        return {size * x(), size * x()};
    }
    case Complexes::cancelling: {
        const double small =
            random.chance(0.5) ? std::ldexp(x(), static_cast<int>(-random.integer(20, 130))) : 0;
        const Gaussian unit{sign(random), small};
        return random.chance(0.5) ? unit : Gaussian{unit.im, unit.re};
    }
    default:
        return {x(), x()};
    }
}

GaussianMatrix random_matrix(std::int64_t n, Complexes entries, Random &random) {
    const double density = random.chance(0.5) ? 1 : random.uniform(0.4, 1);
    GaussianMatrix a(at(n), std::vector<Gaussian>(at(n)));
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j)
            if (random.chance(i == j ? 0.97 : density)) a[i][j] = random_complex(entries, random);
    return a;
}

GaussianMatrix with_equal_lines(std::int64_t n, Complexes entries, Random &random) {
    const GaussianMatrix kinds = random_matrix(n, entries, random);
    const std::int64_t row_kinds = random.integer(1, n), column_kinds = random.integer(1, n);
    std::vector<std::size_t> column(at(n));
    for (auto &j : column) j = at(random.integer(0, column_kinds - 1));
    GaussianMatrix a(at(n), std::vector<Gaussian>(at(n)));
    for (auto &row : a) {
        const auto i = at(random.integer(0, row_kinds - 1));
        for (std::size_t j = 0; j < row.size(); ++j) row[j] = kinds[i][column[j]];
    }
    return a;
}

ExactBlock full_block(const GaussianMatrix &a) {
    return block_of(a, [](std::size_t, std::size_t) { return true; });
}

ExactBlock sparse_block(const GaussianMatrix &a, Random &random) {
    return block_of(a, [&](std::size_t i, std::size_t j) {
        return a[i][j].re != 0 || a[i][j].im != 0 || random.chance(0.2);
    });
}

libperm::LineClasses kinds_of(const GaussianMatrix &a) {
    GaussianMatrix t = a;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j) t[j][i] = a[i][j];
    return {lowest_equal(a), lowest_equal(t)};
}

bool within(const Gaussian &x, const Gaussian &y, const mpq_class &most) {
    const mpq_class re = x.re - y.re, im = x.im - y.im;
    return re * re + im * im <= most * most;
}
