// Matrices with a structure of their values, and engines that are asked for it.
#pragma once

#include "bench/families.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <perm.hpp>

#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace structured {

using perm::families::Dense;
using perm::families::Random;

inline oracle::Exact number(const std::string &text) { return oracle::Exact(mpq_class(text)); }

inline perm_opts with(const char *engine, const char *precision) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = engine;
    opts.precision = precision;
    opts.device = "cpu";
    return opts;
}

// As the entries of a background or a low rank: whole, or with some bits behind the point; none are 0.
inline double factor(Random &random, bool is_whole) {
    const double x = static_cast<double>(random.integer(1, 9)) * (random.chance(0.3) ? -1 : 1);
    return is_whole ? x : std::ldexp(x * 37 + 1, -static_cast<int>(random.integer(3, 9)));
}

inline std::vector<double> factors(std::int64_t n, Random &random, bool is_whole) {
    std::vector<double> out;
    for (std::int64_t k = 0; k < n; ++k) out.push_back(factor(random, is_whole));
    return out;
}

inline Dense shuffled(const Dense &a, Random &random) {
    const auto n = static_cast<std::int64_t>(a.size());
    const std::vector<std::int64_t> rows = random.permutation(n), cols = random.permutation(n);
    Dense out = a;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j)
            out[i][j] = a[static_cast<std::size_t>(rows[i])][static_cast<std::size_t>(cols[j])];
    return out;
}

// By the engine, on the matrix as it is; none: it says that it does not take this.
inline std::optional<perm::Result> asked_for(const char *engine, const perm::Csr &a, const char *precision) {
    perm_opts opts = with(engine, precision);
    opts.without = "matching,dm,d1,d2,fm,merge";
    try {
        return perm::compute(a, opts);
    } catch (const perm::Error &error) {
        CHECK(error.status() == PERM_UNSUPPORTED);
        CHECK(std::string(error.what()).find("takes ") != std::string::npos);
        return {};
    }
}

// By engine `background` what `real` makes, with complex entries, as engine `ryser` has it.
inline void check_complex_backgrounds(const std::function<perm::Csr()> &real) {
    int taken = 0;
    for (int k = 0; k < run::cases(20); ++k) {
        perm::Csr a = real();
        for (const double x : a.values) a.complex_values.emplace_back(x, 2 * x);
        a.complex_values[7] += std::complex<double>(3, 1);
        a.values.clear();
        const std::string truth = perm::compute(a, with("ryser", "exact")).text();
        if (auto r = asked_for("background", a, "exact")) {
            CHECK(std::string(r->text()) == truth);
            ++taken;
        }
    }
    CHECK(taken > run::enough(10));
}

} // namespace structured
