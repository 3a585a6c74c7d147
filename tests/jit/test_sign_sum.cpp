// Sums over signs against exact ones: values within their roundings, absolute values, the same bits in every
// instruction set.
#include "bench/families.hpp"
#include "jit/lanes/sign_sum.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"
#include "tests/support/simd_targets.hpp"

#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

using namespace libperm;
using oracle::Exact;
using perm::families::Random;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Columns whose row sums are doubles: multiples of 2^-40 below 1/32, and of 2^-90 below 2^-55.
struct Columns {
    SignColumns view;
    std::array<std::vector<double>, 4> parts; // re, im, re_low, im_low

    Columns(int n, bool complex, bool split, Random &random) {
        view.n = n;
        view.stride = (n + 3) / 4 * 4;
        constexpr std::array unit{0x1p-40, 0x1p-40, 0x1p-90, 0x1p-90};
        for (std::size_t k = 0; k < parts.size(); ++k) {
            parts[k].assign(at(n * view.stride), 0);
            for (int j = 0; j < n; ++j)
                for (int i = 0; i < n; ++i)
                    if (!random.chance(0.1))
                        parts[k][at(j * view.stride + i)] =
                            static_cast<double>(random.integer(-(1 << 30), 1 << 30)) * unit[k] * 0x1p4;
        }
        view.re = parts[0].data();
        if (complex) view.im = parts[1].data();
        if (split) view.re_low = parts[2].data();
        if (split && complex) view.im_low = parts[3].data();
    }

    Exact part(bool im, int i, int j) const {
        const std::size_t k = at(j * view.stride + i);
        Exact x(parts[im ? 1 : 0][k]);
        if (view.is_split()) x += Exact(parts[im ? 3 : 2][k]);
        return x;
    }
};

struct ExactSum {
    oracle::Gaussian sum;
    Exact least_mass = 0, most_mass = 0; // of max(|re|, |im|), and of |re| + |im|
};

ExactSum exact_sum(const Columns &a) {
    const int n = a.view.n;
    ExactSum all;
    for (unsigned signs = 0; signs < 1u << (n - 1); ++signs) {
        oracle::Gaussian term{std::popcount(signs) % 2 == 0 ? 1 : -1, 0};
        for (int i = 0; i < n; ++i) {
            oracle::Gaussian x;
            for (int j = 0; j < n; ++j) {
                const bool off = j > 0 && (signs >> (j - 1) & 1) != 0;
                const oracle::Gaussian entry{a.part(false, i, j),
                                             a.view.is_complex() ? a.part(true, i, j) : 0};
                x = off ? oracle::Gaussian{x.re - entry.re, x.im - entry.im}
                        : oracle::Gaussian{x.re + entry.re, x.im + entry.im};
            }
            term = term * x;
        }
        all.sum = all.sum + term;
        all.most_mass += abs(term.re) + abs(term.im);
        all.least_mass += std::max<Exact>(abs(term.re), abs(term.im));
    }
    return all;
}

void check(const Columns &a) {
    CAPTURE(a.view.n);
    CAPTURE(a.view.is_complex());
    CAPTURE(a.view.is_split());
    const TermSum sum = sum_over_signs(a.view, 0, sign_steps(a.view));
    const ExactSum truth = exact_sum(a);
    const double roundings = 4 * a.view.n + 6;
    const Exact bound = truth.most_mass * Exact(roundings * 0x1.1p-53);
    CHECK(abs(Exact(sum.re) + Exact(sum.re_rest) - truth.sum.re) <= bound);
    CHECK(abs(Exact(sum.im) + Exact(sum.im_rest) - truth.sum.im) <= bound);
    CHECK(Exact(sum.mass) <= truth.most_mass * Exact(1 + 0x1p-40));
    CHECK(Exact(sum.mass) >= truth.least_mass * Exact(1 - 0x1p-40));
}

} // namespace

TEST_CASE("sums over signs are within their roundings of exact ones") {
    Random random(run::seed(900));
    for (int n = least_sign_order; n <= 9; ++n)
        for (const bool complex : {false, true})
            for (const bool split : {false, true})
                for (int k = 0; k < (n < 8 ? 4 : 1) * run::multiplier(); ++k)
                    check(Columns(n, complex, split, random));
}

TEST_CASE("sums over signs have the same bits in every instruction set, and pieces add up") {
    Random random(run::seed(901));
    for (int n = least_sign_order; n <= 13; ++n)
        for (const bool complex : {false, true})
            for (const bool split : {false, true}) {
                CAPTURE(n);
                const Columns a(n, complex, split, random);
                const std::uint64_t steps = sign_steps(a.view), middle = steps / 2;
                const TermSum here = sum_over_signs(a.view, 0, steps);
                int targets = 0;
                for_each_target([&] {
                    const TermSum there = sum_over_signs(a.view, 0, steps);
                    CHECK(std::memcmp(&here, &there, sizeof here) == 0);
                    ++targets;
                });
                CHECK(targets > 0);
                const TermSum first = sum_over_signs(a.view, 0, middle),
                              second = sum_over_signs(a.view, middle, steps);
                CHECK(std::fabs(first.mass + second.mass - here.mass) <= 1e-12 * here.mass);
                CHECK(std::fabs(first.re + second.re - here.re) <= 1e-12 * here.mass);
                CHECK(std::fabs(first.im + second.im - here.im) <= 1e-12 * here.mass);
            }
}
