#include "tests/support/adversarial.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

using libperm::Gaussian;
using oracle::GaussianMatrix;
using perm::families::Random;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

double rounded(const mpq_class &x) { return std::clamp(x.get_d(), -1e300, 1e300); }

// What the entries of a matrix may be.
struct Entries {
    int kind; // of powers of ten
    bool complex, nonnegative;
};

// A number that rounds, times a power of ten.
Gaussian entry(const Entries &entries, Random &random) {
    constexpr double exponents[][2] = {{0, 0}, {-1, 1}, {-150, 150}, {-300, 300}, {-310, -290}};
    const auto part = [&] {
        if (random.chance(0.2)) return 0.0;
        const auto &[low, high] = exponents[entries.kind];
        const double exponent =
            random.chance(0.5) ? (random.chance(0.5) ? low : high) : random.uniform(low, high);
        const double size = random.chance(0.3) ? 1 : random.uniform(0.5, 1);
        return (entries.nonnegative || random.chance(0.5) ? 1 : -1) * size * std::pow(10.0, exponent);
    };
    const double re = part();
    return {mpq_class(re), mpq_class(entries.complex && random.chance(0.7) ? part() : 0.0)};
}

Gaussian times(const Gaussian &x, double factor) {
    return {x.re * mpq_class(factor), x.im * mpq_class(factor)};
}

// Rows of few kinds, with powers of two and, unless they are to have none, signs.
void repeat_rows(GaussianMatrix &a, bool nonnegative, Random &random) {
    const std::int64_t kinds = random.integer(1, 2);
    for (std::size_t i = at(kinds); i < a.size(); ++i) {
        const double factor = (nonnegative || random.chance(0.5) ? 1 : -1) * (random.chance(0.8) ? 1 : 0.25);
        a[i] = a[at(random.integer(0, kinds - 1))];
        for (Gaussian &x : a[i]) x = times(x, factor);
    }
}

// Half of the columns against the other half: much cancels, all if nothing is changed after.
void oppose_columns(GaussianMatrix &a, Random &random) {
    for (auto &row : a)
        for (std::size_t j = 1; j < row.size(); j += 2) {
            row[j] = times(row[j - 1], -1);
            if (random.chance(0.1)) row[j].re = mpq_class(rounded(row[j].re) * (1 + 0x1p-52));
        }
}

// The last entry, where perm is as near 0 as rounding it to doubles allows.
void solve_last(GaussianMatrix &a) {
    Gaussian &last = a.back().back();
    last = {};
    GaussianMatrix minor(a.begin(), a.end() - 1);
    for (auto &row : minor) row.pop_back();
    const Gaussian rest = oracle::by_subsets(a), factor = oracle::by_subsets(minor);
    if (libperm::is_zero(factor)) return;
    const Gaussian root = rest / factor;
    last = {mpq_class(-rounded(root.re)), mpq_class(-rounded(root.im))};
}

} // namespace

GaussianMatrix adversarial(std::int64_t largest, Random &random) {
    const std::int64_t n = random.integer(1, largest);
    const bool complex = random.chance(0.4), nonnegative = !complex && random.chance(0.3);
    const int kind = static_cast<int>(random.integer(0, 4));
    GaussianMatrix a(at(n), std::vector<Gaussian>(at(n)));
    for (auto &row : a)
        for (Gaussian &x : row) x = entry({random.chance(0.1) ? 3 : kind, complex, nonnegative}, random);
    if (random.chance(0.4)) repeat_rows(a, nonnegative, random);
    if (!nonnegative && random.chance(0.3)) oppose_columns(a, random);
    for (auto &row : a)
        for (Gaussian &x : row) x = {mpq_class(x.re.get_d()), mpq_class(x.im.get_d())}; // subnormal ones
    if (!nonnegative && random.chance(0.5)) solve_last(a);
    if (random.chance(0.2)) std::reverse(a.begin(), a.end());
    return a;
}

std::string text_of(const GaussianMatrix &a) {
    std::string text;
    for (const auto &row : a) {
        for (const Gaussian &x : row) {
            char entry[80];
            std::snprintf(entry, sizeof entry, "%a,%a  ", x.re.get_d(), x.im.get_d());
            text += entry;
        }
        text += "\n";
    }
    return text;
}
