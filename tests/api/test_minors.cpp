// Sub-permanents and gradients of dense matrices against exact ones: entries of every kind, rows of zeros,
// cancellation, copies, batches, any number of threads and every instruction set.
#include "bench/families.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"
#include "tests/support/simd_targets.hpp"

#include <doctest/doctest.h>
#include <hwy/targets.h>
#include <perm.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

using oracle::Exact;
using oracle::Gaussian;
using oracle::GaussianMatrix;
using perm::families::Random;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

enum class Entries { normal, counts, cancelling, far, zeros };
constexpr Entries all_entries[] = {Entries::normal, Entries::counts, Entries::cancelling, Entries::far,
                                   Entries::zeros};

struct Dense {
    std::int64_t rows, cols;
    bool is_complex;
    std::vector<double> values;
    std::vector<std::int64_t> row_count, col_count;

    Dense(std::int64_t m, std::int64_t n, bool complex, Entries kind, Random &random)
        : rows(m), cols(n), is_complex(complex), row_count(at(m), 1), col_count(at(n), 1) {
        const std::int64_t parts = complex ? 2 : 1;
        for (std::int64_t k = 0; k < m * n * parts; ++k) {
            const std::int64_t i = k / parts / n, j = k / parts % n;
            double x = static_cast<double>(random.integer(-(1 << 30), 1 << 30)) * 0x1p-30 * 1.1;
            if (kind == Entries::counts) x = static_cast<double>(random.integer(-3, 5));
            if (kind == Entries::cancelling && i % 2 == 1)
                x = values[at((k - n * parts))] * (j % 2 == 0 ? 1 : -1);
            if (kind == Entries::far)
                x = std::ldexp(x, static_cast<int>(random.integer(-70, 70)) +
                                      static_cast<int>(40 * (j % 3) - 90 * (i % 2)));
            if (kind == Entries::zeros && (random.chance(0.3) || i == 1)) x = 0;
            values.push_back(x);
        }
    }

    perm_dense view() const {
        perm_dense a = PERM_DENSE_INIT;
        a.n_rows = rows;
        a.n_cols = cols;
        a.values = values.data();
        a.value_type = is_complex ? PERM_VALUE_C128 : PERM_VALUE_F64;
        a.row_multiplicity = row_count.data();
        a.col_multiplicity = col_count.data();
        return a;
    }
    Gaussian entry(std::int64_t i, std::int64_t j) const {
        const std::size_t k = at(i * cols + j);
        return is_complex ? Gaussian{Exact(values[2 * k]), Exact(values[2 * k + 1])}
                          : Gaussian{Exact(values[k]), 0};
    }
    // With a copy of row i and of column j less; -1: of none.
    Gaussian without(std::int64_t i, std::int64_t j) const {
        GaussianMatrix rest;
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t copy = r == i ? 1 : 0; copy < row_count[at(r)]; ++copy) {
                auto &row = rest.emplace_back();
                for (std::int64_t c = 0; c < cols; ++c)
                    row.insert(row.end(), at(std::max<std::int64_t>(0, col_count[at(c)] - (c == j))),
                               entry(r, c));
            }
        return rest.empty() ? Gaussian{1, 0} : oracle::by_subsets(rest);
    }
};

bool within(const Gaussian &truth, const double *found, bool is_complex, double bound) {
    if (bound == std::numeric_limits<double>::infinity()) return true;
    const Exact re = Exact(found[0]) - truth.re, im = (is_complex ? Exact(found[1]) : Exact(0)) - truth.im;
    return re * re + im * im <= Exact(bound) * Exact(bound);
}

double size_of(const Gaussian &x) { return std::hypot(x.re.get_d(), x.im.get_d()); }

struct Tally {
    int compared = 0, exact = 0, sharp = 0;
    void add(const Gaussian &truth, double bound) {
        ++compared;
        exact += bound == 0;
        sharp += bound <= 1e-9 * size_of(truth);
    }
};

void check_sub_permanents(const Dense &a, Tally &tally) {
    const bool by_rows = std::accumulate(a.row_count.begin(), a.row_count.end(), std::int64_t{0}) >
                         std::accumulate(a.col_count.begin(), a.col_count.end(), std::int64_t{0});
    const std::int64_t lines = by_rows ? a.rows : a.cols;
    const std::size_t parts = a.is_complex ? 2 : 1;
    std::vector<double> found(at(lines) * parts, 7), bounds(at(lines), 7);
    const perm_dense view = a.view();
    REQUIRE(perm_sub_permanents(&view, nullptr, found.data(), bounds.data()) == PERM_OK);
    for (std::int64_t l = 0; l < lines; ++l) {
        const bool stands = (by_rows ? a.row_count : a.col_count)[at(l)] > 0;
        const Gaussian truth = !stands ? Gaussian{0, 0} : by_rows ? a.without(l, -1) : a.without(-1, l);
        CHECK(within(truth, found.data() + at(l) * parts, a.is_complex, bounds[at(l)]));
        tally.add(truth, bounds[at(l)]);
    }
}

void check_gradient(const Dense &a, Tally &tally) {
    const std::size_t parts = a.is_complex ? 2 : 1;
    std::vector<double> found(a.values.size(), 7), bounds(a.values.size() / parts, 7);
    double whole[2], bound = 7;
    const perm_dense view = a.view();
    REQUIRE(perm_gradients(&view, nullptr, found.data(), bounds.data(), whole, &bound) == PERM_OK);
    CHECK(within(a.without(-1, -1), whole, a.is_complex, bound));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < a.cols; ++j) {
            const std::size_t k = at(i * a.cols + j);
            const Exact copies = a.row_count[at(i)] * a.col_count[at(j)];
            Gaussian truth = copies == 0 ? Gaussian{0, 0} : a.without(i, j);
            truth = {truth.re * copies, truth.im * copies};
            CHECK(within(truth, found.data() + k * parts, a.is_complex, bounds[k]));
            tally.add(truth, bounds[k]);
        }
}

// So that the counted ones are `lines` in all.
void share_out(std::vector<std::int64_t> &count, std::int64_t lines, Random &random) {
    std::fill(count.begin(), count.end(), 0);
    for (; lines > 0; --lines) ++count[at(random.integer(0, static_cast<std::int64_t>(count.size()) - 1))];
}

perm_opts with_threads(int threads) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.threads = threads;
    return opts;
}

} // namespace

TEST_CASE("sub-permanents are within their bounds of exact ones") {
    Random random(run::seed(2401));
    Tally tally;
    for (const Entries kind : all_entries)
        for (const bool complex : {false, true})
            for (int round = 0; round < run::cases(6); ++round) {
                const std::int64_t n = random.integer(0, 8);
                const bool by_rows = random.chance(0.5);
                check_sub_permanents(Dense(by_rows ? n + 1 : n, by_rows ? n : n + 1, complex, kind, random),
                                     tally);
            }
    CHECK(tally.compared > run::enough(200));
    CHECK(tally.exact > run::enough(20));
    CHECK(tally.sharp > tally.compared / 3);
}

TEST_CASE("sub-permanents where lines repeat") {
    Random random(run::seed(2402));
    Tally tally;
    for (const Entries kind : all_entries)
        for (const bool complex : {false, true})
            for (int round = 0; round < run::cases(6); ++round) {
                const std::int64_t n = random.integer(1, 8);
                Dense a(random.integer(1, 6), random.integer(1, 6), complex, kind, random);
                const bool by_rows = random.chance(0.5);
                share_out(a.row_count, by_rows ? n + 1 : n, random);
                share_out(a.col_count, by_rows ? n : n + 1, random);
                check_sub_permanents(a, tally);
            }
    CHECK(tally.compared > run::enough(150));
    CHECK(tally.sharp > tally.compared / 4);
}

TEST_CASE("minors of integers that no double holds are within their bounds of exact ones") {
    Random random(run::seed(2405));
    int compared = 0;
    for (int round = 0; round < run::cases(30); ++round) {
        const std::int64_t n = random.integer(1, 7), rows = round % 2 == 0 ? n + 1 : n;
        std::vector<std::int64_t> values(at(rows * n));
        for (std::int64_t &x : values)
            x = static_cast<std::int64_t>(random.bits()) >> (round % 3 == 0 ? 0 : random.integer(0, 40));
        perm_dense view = PERM_DENSE_INIT;
        view.n_rows = rows;
        view.n_cols = n;
        view.values = values.data();
        view.value_type = PERM_VALUE_I64;
        std::vector<double> found(values.size()), bounds(values.size());
        double whole, bound;
        if (rows > n)
            REQUIRE(perm_sub_permanents(&view, nullptr, found.data(), bounds.data()) == PERM_OK);
        else
            REQUIRE(perm_gradients(&view, nullptr, found.data(), bounds.data(), &whole, &bound) == PERM_OK);
        const auto without = [&](std::int64_t i, std::int64_t j) {
            GaussianMatrix rest;
            for (std::int64_t r = 0; r < rows; ++r) {
                if (r == i) continue;
                auto &row = rest.emplace_back();
                for (std::int64_t c = 0; c < n; ++c)
                    if (c != j) row.push_back({Exact(values[at(r * n + c)]), 0});
            }
            return rest.empty() ? Gaussian{1, 0} : oracle::by_subsets(rest);
        };
        for (std::int64_t k = 0; k < (rows > n ? rows : n * n); ++k) {
            const Gaussian truth = rows > n ? without(k, -1) : without(k / n, k % n);
            CHECK(within(truth, &found[at(k)], false, bounds[at(k)]));
            CHECK(bounds[at(k)] < 1e-9 * std::pow(0x1p63, static_cast<double>(n)) * 5040);
            ++compared;
        }
        if (rows == n) CHECK(within(without(-1, -1), &whole, false, bound));
    }
    CHECK(compared > run::enough(100));
}

TEST_CASE("gradients are within their bounds of exact ones, also at zeros and where lines repeat") {
    Random random(run::seed(2403));
    Tally tally;
    for (const Entries kind : all_entries)
        for (const bool complex : {false, true})
            for (int round = 0; round < run::cases(5); ++round) {
                const std::int64_t n = random.integer(1, 7);
                check_gradient(Dense(n, n, complex, kind, random), tally);
                Dense a(random.integer(1, 5), random.integer(1, 5), complex, kind, random);
                share_out(a.row_count, n, random);
                share_out(a.col_count, n, random);
                check_gradient(a, tally);
            }
    check_gradient(Dense(12, 12, false, Entries::normal, random), tally); // two pieces
    CHECK(tally.compared > run::enough(500));
    CHECK(tally.exact > run::enough(40));
    CHECK(tally.sharp > tally.compared / 4);
}

TEST_CASE("the same bits in every instruction set, in a batch, and for any number of threads") {
    Random random(run::seed(2404));
    for (const bool complex : {false, true})
        for (const std::int64_t n : {3, 5, 6, 9, 15, 17}) {
            const std::int64_t count = n < 10 ? 40 : 1;
            std::vector<double> values, gradients[2], minors[2];
            const std::int64_t parts = complex ? 2 : 1;
            for (std::int64_t m = 0; m < count; ++m) {
                const Dense a(n + 1, n, complex, Entries::normal, random);
                values.insert(values.end(), a.values.begin(), a.values.end());
            }
            perm_dense square = PERM_DENSE_INIT;
            square.n_rows = square.n_cols = n;
            square.count = count;
            square.values = values.data();
            square.value_type = complex ? PERM_VALUE_C128 : PERM_VALUE_F64;
            perm_dense longer = square;
            longer.n_rows = n + 1;
            const auto compute = [&](const perm_opts &opts, std::vector<double> &g, std::vector<double> &s) {
                g.assign(at(count * n * n * parts), 0);
                s.assign(at(count * (n + 1) * parts), 0);
                REQUIRE(perm_gradients(&square, &opts, g.data(), nullptr, nullptr, nullptr) == PERM_OK);
                REQUIRE(perm_sub_permanents(&longer, &opts, s.data(), nullptr) == PERM_OK);
            };
            compute(with_threads(1), gradients[0], minors[0]);
            compute(with_threads(2), gradients[1], minors[1]);
            CHECK(gradients[0] == gradients[1]);
            CHECK(minors[0] == minors[1]);
            if (n < 15)
                for_each_target([&] {
                    compute(with_threads(1), gradients[1], minors[1]);
                    CHECK(gradients[0] == gradients[1]);
                    CHECK(minors[0] == minors[1]);
                });
            perm_dense last = longer; // alone, as in the batch
            last.count = 1;
            last.values = values.data() + (count - 1) * (n + 1) * n * parts;
            std::vector<double> alone(at((n + 1) * parts));
            REQUIRE(perm_sub_permanents(&last, nullptr, alone.data(), nullptr) == PERM_OK);
            CHECK(std::equal(alone.begin(), alone.end(), minors[0].end() - (n + 1) * parts));
        }
}

TEST_CASE("larger: Euler's identity, and sub-permanents beside gradients") {
    Random random(run::seed(2405));
    for (const bool complex : {false, true}) {
        const std::int64_t n = run::sanitized ? 13 : 18;
        const std::size_t parts = complex ? 2 : 1;
        const Dense a(n, n, complex, Entries::normal, random);
        std::vector<double> gradient(a.values.size()), bounds(at(n * n)), minors(at(n) * parts),
            minor_bounds(at(n));
        const perm_dense view = a.view();
        REQUIRE(perm_gradients(&view, nullptr, gradient.data(), bounds.data(), nullptr, nullptr) == PERM_OK);
        perm_dense rest = view; // without the last column: a row left out is the derivative by an entry of it
        std::vector<double> values;
        for (std::int64_t i = 0; i < n; ++i)
            values.insert(values.end(), a.values.begin() + i * n * static_cast<std::int64_t>(parts),
                          a.values.begin() + (i * n + n - 1) * static_cast<std::int64_t>(parts));
        rest.n_cols = n - 1;
        rest.values = values.data();
        rest.col_multiplicity = nullptr;
        REQUIRE(perm_sub_permanents(&rest, nullptr, minors.data(), minor_bounds.data()) == PERM_OK);
        for (std::size_t i = 0; i < at(n); ++i)
            for (std::size_t part = 0; part < parts; ++part) {
                const std::size_t k = i * at(n) + at(n - 1);
                const double bound = bounds[k] + minor_bounds[i];
                CHECK(std::fabs(gradient[k * parts + part] - minors[i * parts + part]) <= bound * 1.0001);
                CHECK(bound <
                      1e-6 * std::hypot(gradient[k * parts], complex ? gradient[k * parts + 1] : 0) + 1e-3);
            }
    }
}

TEST_CASE("integers, and numbers at the ends of the range") {
    const std::int64_t whole[] = {1, 0, 3, -2, 5, 6, 0, 0, 4};
    perm_dense a = PERM_DENSE_INIT;
    a.n_rows = a.n_cols = 3;
    a.values = whole;
    a.value_type = PERM_VALUE_I64;
    double gradient[9], bounds[9], permanent = 0, bound = 7;
    REQUIRE(perm_gradients(&a, nullptr, gradient, bounds, &permanent, &bound) == PERM_OK);
    CHECK(permanent == 20);
    CHECK(bound == 0);
    const double truth[] = {20, -8, 0, 0, 4, 0, 15, 0, 5};
    for (int k = 0; k < 9; ++k) {
        CHECK(bounds[k] == 0);
        if (k != 7) CHECK(gradient[k] == truth[k]);
    }
    CHECK(gradient[7] == 0); // 1 * 6 + 3 * -2
    const double tiny[] = {1e-200, 1e-200, 3e200, 1e200, 2e200, 5e-300};
    a.n_rows = 3;
    a.n_cols = 2;
    a.values = tiny;
    a.value_type = PERM_VALUE_F64;
    double minors[3], minor_bounds[3];
    REQUIRE(perm_sub_permanents(&a, nullptr, minors, minor_bounds) == PERM_OK);
    CHECK(minors[0] == std::numeric_limits<double>::infinity()); // 2e400
    CHECK(minor_bounds[0] == std::numeric_limits<double>::infinity());
    CHECK(minors[1] == doctest::Approx(2));
    CHECK(minors[2] == doctest::Approx(4));
    CHECK(minor_bounds[2] < 1e-12);
}

TEST_CASE("what is at fault is said") {
    const std::vector<double> values(16, 1);
    std::vector<double> out(64, 7);
    const auto sub = [&](const perm_dense &a) {
        return perm_sub_permanents(&a, nullptr, out.data(), nullptr);
    };
    const auto gradient = [&](const perm_dense &a) {
        return perm_gradients(&a, nullptr, out.data(), nullptr, nullptr, nullptr);
    };
    const auto says = [](const char *what) {
        return std::string(perm_last_error()).find(what) != std::string::npos;
    };
    perm_dense a = PERM_DENSE_INIT;
    a.n_rows = a.n_cols = 4;
    a.values = values.data();
    CHECK(sub(a) == PERM_BAD_MATRIX);
    CHECK(says("4 x 4"));
    a.n_rows = 3;
    CHECK(gradient(a) == PERM_BAD_MATRIX);
    CHECK(says("perm_plan_gradient"));
    CHECK(sub(a) == PERM_OK);
    CHECK(perm_sub_permanents(&a, nullptr, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_sub_permanents(nullptr, nullptr, out.data(), nullptr) == PERM_BAD_ARGUMENT);
    perm_dense wrong = a;
    wrong.values = nullptr;
    CHECK(sub(wrong) == PERM_BAD_ARGUMENT);
    wrong = a;
    wrong.struct_size = 8;
    CHECK(sub(wrong) == PERM_BAD_ARGUMENT);
    wrong = a;
    wrong.value_type = PERM_VALUE_TEXT;
    CHECK(sub(wrong) == PERM_BAD_ARGUMENT);
    wrong = a;
    wrong.count = -1;
    CHECK(sub(wrong) == PERM_BAD_ARGUMENT);
    wrong = a;
    wrong.n_rows = -3;
    CHECK(sub(wrong) == PERM_BAD_MATRIX);
    const std::int64_t negative[] = {1, -1, 3};
    wrong = a;
    wrong.row_multiplicity = negative;
    CHECK(sub(wrong) == PERM_BAD_MATRIX);
    CHECK(says("row_multiplicity[1]"));
    std::vector<double> infinite = values;
    infinite[6] = std::numeric_limits<double>::infinity();
    wrong = a;
    wrong.values = infinite.data();
    CHECK(sub(wrong) == PERM_BAD_MATRIX);
    CHECK(says("(1, 2) is infinite"));
    const std::vector<double> wide(41 * 42, 1);
    wrong = a;
    wrong.n_rows = 41;
    wrong.n_cols = 42;
    wrong.values = wide.data();
    CHECK(sub(wrong) == PERM_UNSUPPORTED);
    CHECK(says("41 rows"));
    wrong.n_rows = wrong.n_cols = 40;
    perm_opts opts = PERM_OPTS_INIT;
    opts.time_limit_seconds = 0.5;
    std::vector<double> place(1600);
    CHECK(perm_gradients(&wrong, &opts, place.data(), nullptr, nullptr, nullptr) == PERM_REFUSED_TIME);
    CHECK(says("time_limit_seconds"));
    opts = PERM_OPTS_INIT;
    opts.time_limit_seconds = std::numeric_limits<double>::infinity();
    opts.cancel = [](void *) { return 1; };
    CHECK(perm_gradients(&wrong, &opts, place.data(), nullptr, nullptr, nullptr) == PERM_CANCELLED);
}
