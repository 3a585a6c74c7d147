// The operator as full matrices: sectors and their squares against walks and exact numbers.
#include "lib/base/error.hpp"
#include "lib/number/residues.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/periodic/answers/residue_terms.hpp"
#include "lib/periodic/answers/terms.hpp"
#include "lib/periodic/cell/periodic_matrix.hpp"
#include "lib/periodic/period/period_levels.hpp"
#include "lib/periodic/power/sector_powers.hpp"
#include "tests/support/check.hpp"
#include "tests/support/periodic_cells.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

using namespace libperm;
using perm::families::Random;

namespace {

// A bar of the square lattice, its layers seen in a mirror by turns; around: its first side is a ring.
PeriodicMatrix bar(std::int32_t a, std::int32_t b, bool around, int across, int along) {
    PeriodicMatrix out;
    out.reach = 1;
    out.joined = true;
    std::vector<std::int32_t> number(static_cast<std::size_t>(a * b));
    std::int32_t next[2] = {0, 0};
    const auto site = [b](std::int32_t x, std::int32_t y) { return static_cast<std::size_t>(x * b + y); };
    for (std::int32_t x = 0; x < a; ++x)
        for (std::int32_t y = 0; y < b; ++y) number[site(x, y)] = next[(x + y) % 2]++;
    out.rows = next[0];
    for (std::int32_t x = 0; x < a; ++x)
        for (std::int32_t y = 0; y < b; ++y) {
            if ((x + y) % 2 != 0) continue;
            const auto add = [&](std::int32_t u, std::int32_t v, std::int32_t cell, int value) {
                if (u < 0 || u >= a || v < 0 || v >= b) return;
                out.entries.push_back({number[site(x, y)], number[site(u, v)], cell});
                out.values.push_back({value, 0});
            };
            for (const std::int32_t by : {-1, 1}) {
                add(around ? (x + by + a) % a : x + by, y, 0, across);
                add(x, y + by, 0, across);
                add(a - 1 - x, y, by, along);
            }
        }
    return out;
}

// Within so many roundings of the sum of the absolute values, each block's and sector's.
template <class A>
void check_squares(const PeriodicPlan &plan, std::int64_t m, const Outcome &truth, Arithmetic arithmetic) {
    std::vector<Gaussian> sizes;
    for (const Gaussian &value : plan.values) {
        const Tracked size = magnitude_of(value);
        sizes.push_back(exact_of({size.magnitude, 0, 0, 0}, size.exp2));
    }
    const SquaredEntries entries{plan.values, plan.nonnegative ? plan.values : sizes};
    const Ranged<Signed<A>> found = FloatSquares<A>::term(plan, entries, m);
    PackedParts parts{};
    std::memcpy(parts.data(), &found.number.value, sizeof found.number.value);
    const Gaussian sum = exact_of(unpacked(parts, arithmetic), found.exp2);
    const mpq_class absolute = shifted(mpq_class(found.number.absolute), found.exp2);
    const mpq_class each = mpq_class(unit_of(arithmetic)) * 40 *
                           static_cast<long>((m + 1) * (plan.matrix.rows + 20)),
                    most = each * absolute;
    const Gaussian value = cells::value_of(truth);
    CHECK(abs(sum.re - value.re) <= most);
    CHECK(abs(sum.im - value.im) <= most);
}

void check_squares(const PeriodicPlan &plan, std::int64_t m, const Outcome &truth) {
    using number::Complex, number::DD, number::Real;
    if (plan.real) {
        check_squares<Real<double>>(plan, m, truth, Arithmetic::real);
        check_squares<DD<double>>(plan, m, truth, Arithmetic::dd);
    } else {
        check_squares<Complex<Real<double>>>(plan, m, truth, Arithmetic::complex);
        check_squares<Complex<DD<double>>>(plan, m, truth, Arithmetic::complex_dd);
    }
}

} // namespace

TEST_CASE("the maps of a bar commute, and its sectors are as many orbits as there are states") {
    for (const auto &[a, b, around, maps] :
         {std::tuple{2, 3, false, 1}, {2, 4, false, 1}, {4, 1, true, 2}, {4, 2, true, 2}}) {
        CAPTURE(a);
        CAPTURE(b);
        const PeriodicMatrix matrix = bar(a, b, around, 1, 1);
        CHECK(std::ssize(commuting_symmetries(matrix)) >= maps);
        const PeriodicPlan plan = cells::planned(matrix);
        for (const PeriodBlock &block : plan.loops) {
            std::size_t states = 0;
            for (const Sector &sector : sectors_of(block)) states += sector.size();
            CHECK(states == block.states);
        }
    }
}

TEST_CASE("the traces of sectors are those of walks") {
    Random random(run::seed(0x73656374));
    int compared = 0, split = 0, turning = 0;
    for (int trial = 0; trial < run::cases(160); ++trial) {
        const auto any = [&] {
            return static_cast<int>(random.integer(1, 3)) * (random.uniform() < 0.5 ? 1 : -1);
        };
        PeriodicMatrix a = trial % 8 == 0
                               ? bar(2, static_cast<std::int32_t>(random.integer(2, 4)), false, 1, 1)
                           : trial % 8 == 1 ? bar(4, 1 + trial % 16 / 8, true, any(), any())
                           : trial % 8 == 2 ? cells::strip(static_cast<std::int32_t>(random.integer(2, 3)))
                                            : cells::any(random, static_cast<cells::Kind>(trial % 4), true);
        a.joined = true;
        CAPTURE(trial);
        CAPTURE(cells::text(a));
        const PeriodicPlan plan = cells::planned(a);
        const std::int64_t m = random.integer(1, 24);
        CAPTURE(m);
        REQUIRE(may_be_squared(plan));
        const Outcome exact = cells::exact_terms(plan, m, 1).front();
        check_squares(plan, m, exact);
        for (const PeriodBlock &block : plan.loops) {
            split += block.alike > 0 && sectors_in(block) > 1;
            for (const std::uint32_t twist : block.symmetries.twist) turning += twist != 0;
        }
        compared += !is_zero(cells::value_of(exact));
    }
    CHECK(compared > run::enough(80));
    CHECK(split > run::enough(20));
    CHECK(turning > run::enough(5));
}

TEST_CASE("a product of matrices has the bits of its definition") {
    Random random(run::seed(0x70726f64));
    for (int trial = 0; trial < run::cases(12); ++trial) {
        const auto size = [&] {
            return static_cast<std::size_t>(random.integer(1, trial % 3 == 0 ? 600 : 40));
        };
        const std::size_t rows = size(), inner = size(), columns = size();
        DenseMatrix a = DenseMatrix::unwritten(rows, inner, false, false),
                    b = DenseMatrix::unwritten(inner, columns, false, false);
        for (double &x : a.planes[0]) x = random.uniform() - 0.5;
        for (double &x : b.planes[0]) x = random.uniform() - 0.5;
        const DenseMatrix c = product(a, b);
        for (int k = 0; k < 50; ++k) {
            const auto i = static_cast<std::size_t>(random.integer(0, static_cast<int>(rows) - 1)),
                       j = static_cast<std::size_t>(random.integer(0, static_cast<int>(columns) - 1));
            double sum = 0;
            for (std::size_t first = 0; first < inner; first += 256) {
                double chunk = 0;
                for (std::size_t l = first; l < std::min(inner, first + 256); ++l)
                    chunk = std::fma(a.planes[0][i * inner + l], b.planes[0][l * columns + j], chunk);
                sum += chunk;
            }
            CHECK(sum == c.planes[0][i * columns + j]);
        }
    }
}

TEST_CASE("residues of sectors are those of walks") {
    Random random(run::seed(0x72657371));
    int compared = 0;
    for (int trial = 0; trial < run::cases(48); ++trial) {
        PeriodicMatrix a = trial % 4 == 0 ? bar(4, 1, true, trial % 8 == 0 ? 1 : -2, 1)
                                          : cells::any(random, static_cast<cells::Kind>(trial % 3), true);
        CAPTURE(cells::text(a));
        const PeriodicPlan plan = cells::planned(a);
        const IntegerEntries entries = integer_entries(plan);
        const int bits = trial % 5 == 0 ? 3 : trial % 5 == 1 ? 62 : static_cast<int>(random.integer(20, 61));
        const std::uint64_t prime = primes_below(bits, 1, false).front();
        const std::int64_t m = random.integer(1, 40);
        CAPTURE(prime);
        CAPTURE(m);
        const Pattern none;
        const Residues residues = residues_of(none, entries.re, entries.im, {prime});
        const std::uint64_t truth = terms_modulo(plan, entries, {prime}, m, 1).front().front();
        CHECK(trace_modulo(plan, residues, m) == truth);
        compared += truth != 0;
    }
    CHECK(compared > run::enough(20));
}

TEST_CASE("steps to a power") {
    struct Exponents {
        int &products;

        std::uint64_t times(std::uint64_t x, std::uint64_t y) const {
            ++products;
            return x + y;
        }
        std::uint64_t trace(std::uint64_t x, const std::uint64_t *y) const { return y ? x + *y : x; }
    };
    for (std::uint64_t power = 1; power < 200; ++power) {
        int products = 0;
        CHECK(trace_by_halves(std::uint64_t{1}, power, Exponents{products}) == power);
        CHECK(products == products_to(power));
    }
}
