// perm_result.entry_rounding: what the rounding of the entries themselves can have changed.
#include "bench/families.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <perm.hpp>

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

using oracle::Exact;
using perm::families::Random;

namespace {

using Complex = std::complex<double>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

template <class Value> perm::Result computed(const std::vector<Value> &values, std::int64_t n) {
    std::vector<std::int64_t> row_ptr, col;
    for (std::int64_t i = 0; i <= n; ++i) row_ptr.push_back(i * n);
    for (std::int64_t k = 0; k < n * n; ++k) col.push_back(k % n);
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = n;
    a.nnz = n * n;
    a.row_ptr = row_ptr.data();
    a.col_idx = col.data();
    a.values = values.data();
    a.value_type = sizeof(Value) == 16 ? PERM_VALUE_C128 : PERM_VALUE_F64;
    return perm::compute(a);
}

std::vector<double> random_values(std::int64_t n, double low, Random &random) {
    std::vector<double> values;
    for (std::int64_t k = 0; k < n * n; ++k) values.push_back(random.uniform(low, 1));
    return values;
}

Exact exact_permanent(const std::vector<double> &values, std::int64_t n, bool absolute) {
    oracle::GaussianMatrix a(at(n));
    for (std::int64_t k = 0; k < n * n; ++k) {
        const double x = values[at(k)];
        a[at(k / n)].push_back({Exact(absolute ? std::fabs(x) : x), 0});
    }
    return oracle::by_subsets(a).re;
}

} // namespace

TEST_CASE(
    "the permanent of a Fourier matrix of even order is 0: the roundings of its entries are all it has") {
    for (const std::int64_t n : {6, 10, 12, 24}) {
        CAPTURE(n);
        std::vector<Complex> values;
        for (std::int64_t k = 0; k < n * n; ++k) {
            const double turn = static_cast<double>((k / n) * (k % n) % n) / static_cast<double>(n);
            values.push_back(std::polar(1.0, 2 * std::numbers::pi * turn));
        }
        const perm::Result r = computed(values, n);

        CHECK(r->entry_rounding >= 1);
    }
    CHECK(std::isinf(computed(std::vector<double>{0.1, 0.1, 0.1, -0.1}, 2)->entry_rounding));
}

TEST_CASE("no entry's last place changes more than it says, to first order, and of what is well conditioned "
          "little") {
    Random random(run::seed(0x726f756e));
    std::int64_t compared = 0;
    for (int round = 0; round < run::cases(8); ++round)
        for (std::int64_t n = 1; n <= 9; ++n) {
            CAPTURE(n);
            const std::vector<double> values = random_values(n, -1, random);
            const perm::Result r = computed(values, n);
            const Exact truth = abs(exact_permanent(values, n, false));
            const Exact all =
                exact_permanent(values, n, true) * static_cast<double>(n) / (Exact(1) / Exact(0x1p-53));
            if (truth == 0 || std::isinf(r->entry_rounding)) continue;
            CHECK(Exact(r->entry_rounding) * truth * Exact(1.000001) >= all);
            CHECK(r->entry_rounding < 1e-6);
            ++compared;
        }
    CHECK(compared > run::enough(20));
}

TEST_CASE("scaling rows by powers of two, near the ends of the range of doubles too, changes nothing") {
    Random random(run::seed(0x726f7570));
    for (std::int64_t n = 2; n <= 9; ++n) {
        CAPTURE(n);
        std::vector<double> values = random_values(n, -1, random);
        const double before = computed(values, n)->entry_rounding;
        for (std::int64_t k = 0; k < n * n; ++k)
            values[static_cast<std::size_t>(k)] *= k / n % 3 == 0   ? 0x1p-900
                                                   : k / n % 3 == 1 ? 0x1p-300
                                                                    : 0x1p900;
        CHECK(before > 0);
        CHECK(computed(values, n)->entry_rounding == doctest::Approx(before).epsilon(1e-6));
    }
}

TEST_CASE("without cancellation it is n 2^-53, of exact numbers 0") {
    Random random(run::seed(0x726f756f));
    for (const std::int64_t n : {1, 3, 8, 22}) {
        CAPTURE(n);
        CHECK(computed(random_values(n, 0, random), n)->entry_rounding == static_cast<double>(n) * 0x1p-53);
    }
    CHECK(computed(std::vector<double>{1, 1, 1, -1}, 2)->entry_rounding == 0);
    CHECK(computed(std::vector<double>{0.5, -0.25, 3, 1e7}, 2)->entry_rounding == 0);
    CHECK(computed(std::vector<double>{0.1, -0.3, 0, 0}, 2)->entry_rounding == 0); // by its pattern
    CHECK(perm::compute(perm::families::constant(5, 1))->entry_rounding == 0);
}

TEST_CASE("weights of unmatched lines are rounded too, where there is no entry as well") {
    const std::int64_t none[] = {0, 0};
    const double row = 0.1, column = -0.3, whole = 2;
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = 1;
    a.row_ptr = none;
    a.row_unmatched = &row;
    a.col_unmatched = &column;
    CHECK(perm::compute(a)->entry_rounding == doctest::Approx(0x1p-52));
    a.row_unmatched = a.col_unmatched = &whole;
    CHECK(perm::compute(a)->entry_rounding == 0);
}
