// The 17 digits of doubles against the standard library's; and texts, read as exact rationals, within their
// bounds.
#include "bench/families.hpp"
#include "lib/number/ball.hpp"
#include "lib/number/scaled.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

using libperm::write_17_digits;
using perm::families::Random;

namespace {

int compared = 0;

void check(double x) {
    char expected[64], found[64];
    char *const end = write_17_digits(x, found);
    const double size = std::fabs(x);
    CHECK((end != nullptr) == (size >= 1e-38 && size < 1e17));
    if (!end) return;
    const auto all =
        std::to_chars(expected, expected + sizeof expected, x, std::chars_format::scientific, 16);
    const bool same = std::string(expected, all.ptr) == std::string(found, end);
    if (!same) CHECK(std::string(expected, all.ptr) == std::string(found, end));
    ++compared;
}

void check_around(double x) {
    double up = x, down = x;
    for (int k = 0; k < 3; ++k) {
        for (const double y : {up, down, -up}) check(y);
        up = std::nextafter(up, HUGE_VAL);
        down = std::nextafter(down, 0);
    }
}

} // namespace

TEST_CASE("17 digits are those of the standard library") {
    Random random(run::seed(940));
    for (int k = 0; k < run::cases(300000); ++k) {
        check(std::ldexp(random.uniform(-1, 1), static_cast<int>(random.integer(-130, 60))));
        check(std::ldexp(static_cast<double>(random.integer(-100000, 100000)),
                         static_cast<int>(random.integer(-80, 40))));
    }
    for (int e = -140; e < 70; ++e) check_around(std::ldexp(1.0, e));
    for (int e = -39; e < 19; ++e) check_around(std::stod("1e" + std::to_string(e)));
    for (const double x : {0.0, -0.0, 1e300, 5e-324, HUGE_VAL, std::numeric_limits<double>::quiet_NaN()})
        check(x);
    CHECK(compared > run::enough(500000));
}

TEST_CASE("what a text says is within its bounds") {
    using libperm::Scaled;
    Random random(run::seed(941));
    int with_17 = 0, with_more = 0;
    for (int k = 0; k < run::cases(20000); ++k) {
        const std::int64_t range = random.chance(0.9) ? 1100 : 5000;
        const double sign = random.chance(0.5) ? 1 : -1;
        const double size = random.chance(0.2) ? 0.5 + random.uniform() * 1e-3 : random.uniform(0.5, 1);
        const Scaled value = libperm::make_scaled(sign * size, random.integer(-range, range));
        const double share =
            random.chance(0.4) ? random.uniform(0.5e-16, 2e-16) : std::pow(10.0, -random.uniform(0.1, 40));
        const Scaled error = libperm::make_scaled(size * share, value.exp2);
        const Scaled bound = libperm::relative_error(value, error),
                     most = libperm::written_error(value, error);
        const std::size_t digits = libperm::written_digits(bound);
        const std::string text = libperm::to_text(value, digits);
        ++(digits == 17 ? with_17 : with_more);
        // The truth may lie at either end.
        const mpq_class exact = exactly(value), written = number_of(text).re;
        for (const int side : {-1, 1}) {
            const mpq_class truth = exact + side * exactly(error), off = abs(written - truth);
            const bool holds = off <= exactly(bound) * abs(truth) && off <= exactly(most);
            if (!holds) CHECK_MESSAGE(holds, text);
        }
        const std::string all = libperm::to_text(value, libperm::every_digit);
        if (number_of(all).re != exact) CHECK_MESSAGE(number_of(all).re == exact, all);
    }
    CHECK(with_17 > run::enough(100));
    CHECK(with_more > run::enough(100));
}
