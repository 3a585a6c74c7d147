// perm_permanents against exact permanents and perm_compute's bits: every kind of entries, small and large,
// alone and in lists, on any number of threads.
#include "bench/families.hpp"
#include "tests/support/calls.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <perm.hpp>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using oracle::Exact;
using oracle::Gaussian;
using perm::families::Random;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr double infinity = std::numeric_limits<double>::infinity();

enum class Entries { normal, zeros, counts, long_counts, cancelling, far, subnormal, ones };
constexpr Entries all_entries[] = {Entries::normal,      Entries::zeros,      Entries::counts,
                                   Entries::long_counts, Entries::cancelling, Entries::far,
                                   Entries::subnormal,   Entries::ones};

// `count` matrices, one behind the other.
struct Dense {
    std::int64_t rows, cols, count;
    perm_value_type type;
    std::vector<double> values;
    std::vector<std::int64_t> whole;

    Dense(std::int64_t m, std::int64_t n, std::int64_t of_these, perm_value_type of_type, Entries kind,
          Random &random)
        : rows(m), cols(n), count(of_these), type(of_type) {
        const std::int64_t numbers = count * m * n * parts();
        for (std::int64_t k = 0; k < numbers; ++k) {
            const bool repeats = kind == Entries::cancelling && k >= n * parts() && k / parts() / n % 2 == 1;
            if (type == PERM_VALUE_I64) {
                const std::int64_t most = kind == Entries::long_counts ? std::int64_t{1} << 62 : 9;
                whole.push_back(repeats ? -whole[at(k - n)]
                                        : number(kind, random.integer(-most, most), random));
            } else {
                const double x = static_cast<double>(random.integer(-(1 << 30), 1 << 30)) * 0x1p-30;
                const bool is_whole = kind == Entries::counts || kind == Entries::long_counts;
                values.push_back(repeats ? -values[at(k - n * parts())]
                                         : number(kind, is_whole ? std::round(9 * x) : x, random));
            }
        }
    }
    std::int64_t parts() const { return type == PERM_VALUE_C128 ? 2 : 1; }
    const void *data() const {
        return type == PERM_VALUE_I64 ? static_cast<const void *>(whole.data()) : values.data();
    }

    perm_dense view() const {
        perm_dense a = PERM_DENSE_INIT;
        a.n_rows = rows;
        a.n_cols = cols;
        a.count = count;
        a.values = data();
        a.value_type = type;
        return a;
    }
    Gaussian entry(std::int64_t k) const {
        if (type == PERM_VALUE_I64) return {Exact(std::to_string(whole[at(k)])), 0};
        return {Exact(values[at(k * parts())]),
                type == PERM_VALUE_C128 ? Exact(values[at(2 * k + 1)]) : Exact(0)};
    }
    Gaussian permanent(std::int64_t m) const {
        oracle::GaussianMatrix a;
        for (std::int64_t i = 0; i < rows; ++i) {
            auto &row = a.emplace_back();
            for (std::int64_t j = 0; j < cols; ++j) row.push_back(entry((m * rows + i) * cols + j));
        }
        return a.empty() ? Gaussian{1, 0} : oracle::by_subsets(a);
    }

  private:
    template <class Number> static Number number(Entries kind, Number x, Random &random) {
        if (kind == Entries::zeros && random.chance(0.35)) return 0;
        if (kind == Entries::ones) return 1;
        if constexpr (std::is_same_v<Number, double>) {
            if (kind == Entries::far) return std::ldexp(x, static_cast<int>(random.integer(-300, 300)));
            if (kind == Entries::subnormal) return std::ldexp(x, -1040);
        }
        return x;
    }
};

struct Numbers {
    std::vector<double> value, bound;
    explicit Numbers(const Dense &of) : value(at(of.count * of.parts()), 7), bound(at(of.count), 7) {}
};

Numbers numbers_of(const Dense &a, const perm_opts *opts = nullptr) {
    Numbers found(a);
    const perm_dense view = a.view();
    const perm_status status = perm_permanents(&view, opts, found.value.data(), found.bound.data());
    CAPTURE(std::string(perm_last_error()));
    REQUIRE(status == PERM_OK);
    return found;
}

bool within(const Gaussian &truth, const double *found, std::int64_t parts, double bound) {
    if (bound == infinity) return true;
    const Exact re = Exact(found[0]) - truth.re, im = (parts > 1 ? Exact(found[1]) : Exact(0)) - truth.im;
    return re * re + im * im <= Exact(bound) * Exact(bound);
}

bool same(double x, double y) { return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y); }

perm_result computed(const Dense &a, std::int64_t m) {
    perm::Csr pattern;
    pattern.n_rows = a.rows;
    pattern.n_cols = a.cols;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < a.cols; ++j) pattern.col_idx.push_back(j);
        pattern.row_ptr.push_back(std::ssize(pattern.col_idx));
    }
    perm_csr csr = pattern.view();
    csr.value_type = a.type;
    csr.values = static_cast<const char *>(a.data()) + m * a.rows * a.cols * a.parts() * 8;
    perm_result r = PERM_RESULT_INIT;
    REQUIRE(perm_compute(&csr, nullptr, &r) == PERM_OK);
    return r;
}

perm_status status_of(const perm_dense &a, const perm_opts *opts = nullptr) {
    std::vector<double> numbers(at(2 * std::max<std::int64_t>(a.count, 1)));
    return perm_permanents(&a, opts, numbers.data(), nullptr);
}

// Of complex fractions with few bits.
Dense dyadic(std::int64_t n, std::int64_t count, Random &random) {
    Dense a(n, n, count, PERM_VALUE_C128, Entries::counts, random);
    const int lowest = static_cast<int>(random.integer(0, 60));
    for (double &x : a.values)
        x = std::ldexp(static_cast<double>(random.integer(1, 9) * (random.chance(0.5) ? 1 : -1)),
                       -static_cast<int>(random.integer(0, lowest)));
    return a;
}

// Whether it is exact. Where both go straight the bound is the same too; else the text has more digits.
bool compare_with_compute(const Dense &a, std::int64_t m, const Numbers &found) {
    const double *const value = &found.value[at(m * 2)];
    const double bound = found.bound[at(m)];
    perm_result r = computed(a, m);
    CHECK(same(r.re, value[0]));
    CHECK(same(r.im, value[1]));
    if (std::string(r.engine) == "glynn") {
        CHECK(same(r.abs_error_bound, bound));
        CHECK(r.exact == (bound == 0 ? 1 : 0));
    } else {
        CHECK(bound >= r.abs_error_bound);
    }
    CHECK(within(a.permanent(m), value, 2, bound));
    perm_result_clear(&r);
    return bound == 0;
}

} // namespace

TEST_CASE("complex fractions have the same numbers, bounds and exactness by both calls") {
    Random random(run::seed(0x64796164));
    std::int64_t compared = 0, exact = 0;
    for (int round = 0; round < run::cases(6); ++round)
        for (std::int64_t n = 1; n <= 8; ++n) {
            CAPTURE(n);
            const Dense a = dyadic(n, 4, random);
            const Numbers found = numbers_of(a);
            for (std::int64_t m = 0; m < a.count; ++m, ++compared) exact += compare_with_compute(a, m, found);
        }
    CHECK(exact > compared / 8);
    CHECK(exact < compared);
}

TEST_CASE("a Hadamard matrix with a tiny imaginary part is exact by both calls") {
    Random random(run::seed(1));
    Dense a(4, 4, 1, PERM_VALUE_C128, Entries::ones, random);
    for (std::size_t k = 0; k < 16; ++k) {
        a.values[2 * k] = std::popcount((k / 4) & (k % 4)) % 2 ? -1 : 1;
        a.values[2 * k + 1] = 0;
    }
    a.values[2 * 5 + 1] = 0x1p-58;
    CHECK(compare_with_compute(a, 0, numbers_of(a)));
}

TEST_CASE("permanents of dense matrices lie within their bounds, and are perm_compute's") {
    Random random(run::seed(0x64656e73));
    std::int64_t compared = 0, exact = 0, sharp = 0;
    for (int round = 0; round < run::cases(4); ++round)
        for (const perm_value_type type : {PERM_VALUE_F64, PERM_VALUE_C128, PERM_VALUE_I64})
            for (const Entries kind : all_entries) {
                const std::int64_t n = random.integer(0, 7);
                CAPTURE(n);
                CAPTURE(static_cast<int>(kind));
                CAPTURE(static_cast<int>(type));
                const Dense a(n, n, 5, type, kind, random);
                const Numbers found = numbers_of(a);
                for (std::int64_t m = 0; m < a.count; ++m) {
                    const double *const value = &found.value[at(m * a.parts())];
                    const Gaussian truth = a.permanent(m);
                    CHECK(within(truth, value, a.parts(), found.bound[at(m)]));
                    ++compared;
                    exact += found.bound[at(m)] == 0;
                    sharp += found.bound[at(m)] <= 1e-9 * std::hypot(value[0], a.parts() > 1 ? value[1] : 0);
                    perm_result r = computed(a, m);
                    CHECK(same(r.re, value[0]));
                    if (a.parts() > 1) CHECK(same(r.im, value[1]));
                    perm_result_clear(&r);
                }
            }
    CHECK(compared > 100);
    CHECK(exact > compared / 5);
    CHECK(sharp > compared / 2);
}

TEST_CASE("a dense matrix has the same bits alone, in a long list and on any number of threads") {
    Random random(run::seed(0x64656e74));
    for (const perm_value_type type : {PERM_VALUE_F64, PERM_VALUE_C128, PERM_VALUE_I64})
        for (const std::int64_t n : {1, 5, 9, 18}) {
            CAPTURE(n);
            const Dense a(n, n, n > 10 ? 3 : 1500, type, Entries::normal, random);
            const Numbers all = numbers_of(a);
            for (const int threads : {1, 2}) {
                perm_opts opts = PERM_OPTS_INIT;
                opts.threads = threads;
                const Numbers again = numbers_of(a, &opts);
                for (std::size_t k = 0; k < all.value.size(); ++k)
                    REQUIRE(same(all.value[k], again.value[k]));
                for (std::size_t k = 0; k < all.bound.size(); ++k)
                    REQUIRE(same(all.bound[k], again.bound[k]));
            }
            for (const std::int64_t m : {std::int64_t{0}, a.count - 1}) {
                perm_dense one = a.view();
                one.count = 1;
                one.values = static_cast<const char *>(a.data()) + m * n * n * a.parts() * 8;
                double value[2], bound;
                REQUIRE(perm_permanents(&one, nullptr, value, &bound) == PERM_OK);
                CHECK(same(value[0], all.value[at(m * a.parts())]));
                CHECK(same(bound, all.bound[at(m)]));
            }
        }
}

TEST_CASE("what is not for the straight road goes perm_compute's: rectangles, copies, larger orders, "
          "repeated lines") {
    Random random(run::seed(0x64656e75));
    std::int64_t compared = 0;
    const auto check = [&](const Dense &a) {
        const Numbers found = numbers_of(a);
        for (std::int64_t m = 0; m < a.count; ++m) {
            perm_result r = computed(a, m);
            CHECK(same(r.re, found.value[at(m * a.parts())]));
            CHECK(found.bound[at(m)] >= r.abs_error_bound);
            CHECK(found.bound[at(m)] <=
                  r.abs_error_bound + 0x1.001p-52 * (std::fabs(r.re) + std::fabs(r.im)));
            perm_result_clear(&r);
            ++compared;
        }
    };
    check(Dense(3, 6, 3, PERM_VALUE_F64, Entries::normal, random));
    check(Dense(6, 3, 2, PERM_VALUE_C128, Entries::normal, random));
    check(Dense(22, 22, 2, PERM_VALUE_F64, Entries::zeros, random));
    check(Dense(14, 14, 2, PERM_VALUE_F64, Entries::ones, random));
    check(Dense(21, 21, 1, PERM_VALUE_I64, Entries::counts, random));
    CHECK(compared == 10);

    const Dense a(3, 3, 2, PERM_VALUE_C128, Entries::normal, random);
    const std::int64_t rows[] = {2, 0, 1}, columns[] = {1, 1, 1};
    perm_dense view = a.view();
    view.row_multiplicity = rows;
    view.col_multiplicity = columns;
    double found[4], bounds[2];
    REQUIRE(perm_permanents(&view, nullptr, found, bounds) == PERM_OK);
    for (std::int64_t m = 0; m < 2; ++m) {
        oracle::GaussianMatrix written;
        for (const std::int64_t i : {0, 0, 2}) {
            auto &row = written.emplace_back();
            for (std::int64_t j = 0; j < 3; ++j) row.push_back(a.entry((m * 3 + i) * 3 + j));
        }
        CHECK(within(oracle::by_subsets(written), found + 2 * m, 2, bounds[m]));
    }
}

TEST_CASE("lists of dense matrices that are none are told, naming the matrix") {
    const std::vector<double> values(200 * 16, 0.5);
    perm_dense a = PERM_DENSE_INIT;
    a.n_rows = a.n_cols = 4;
    a.count = 200;
    a.values = values.data();
    CHECK(status_of(a) == PERM_OK);
    CHECK(perm_permanents(nullptr, nullptr, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_permanents(&a, nullptr, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    std::vector<double> bad = values;
    bad[16 * 123 + 5] = infinity;
    a.values = bad.data();
    CHECK(status_of(a) == PERM_BAD_MATRIX);
    CHECK(std::string(perm_last_error()).find("matrix 123") != std::string::npos);
    a.values = nullptr;
    CHECK(status_of(a) == PERM_BAD_ARGUMENT);
    a.values = values.data();
    a.count = -1;
    CHECK(status_of(a) == PERM_BAD_ARGUMENT);
    a.count = 0;
    CHECK(perm_permanents(&a, nullptr, nullptr, nullptr) == PERM_OK);
    a.count = 2;
    a.value_type = PERM_VALUE_TEXT;
    CHECK(status_of(a) == PERM_BAD_ARGUMENT);
    a.value_type = PERM_VALUE_F64;
    a.struct_size = 8;
    CHECK(status_of(a) == PERM_BAD_ARGUMENT);
    a.struct_size = sizeof a;
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = "abacus";
    CHECK(status_of(a, &opts) == PERM_BAD_OPTION);
    opts = PERM_OPTS_INIT;
    opts.checkpoint = "never-written";
    CHECK(status_of(a, &opts) == PERM_BAD_OPTION);
    opts = PERM_OPTS_INIT;
    opts.cancel = [](void *) { return 1; };
    CHECK(status_of(a, &opts) == PERM_CANCELLED);
    a.n_rows = a.n_cols = 0;
    a.values = nullptr;
    double ones[2] = {0, 0}, bounds[2] = {7, 7};
    CHECK(perm_permanents(&a, nullptr, ones, bounds) == PERM_OK);
    CHECK(ones[1] == 1);
    CHECK(bounds[1] == 0);
}

TEST_CASE("progress of a list of long integers only goes up, told by one thread at a time") {
    Random random(run::seed(0x64656e76));
    const Dense a(12, 12, 60, PERM_VALUE_I64, Entries::long_counts, random);
    struct Told {
        std::atomic<int> inside = 0;
        bool together = false, falls = false;
        double last = 0;
    } told;
    perm_opts opts = PERM_OPTS_INIT;
    opts.progress_user = &told;
    opts.progress = [](double fraction, double, void *user) {
        auto &it = *static_cast<Told *>(user);
        it.together = it.together || it.inside++ > 0;
        it.falls = it.falls || fraction < it.last;
        it.last = fraction;
        --it.inside;
    };
    const perm_dense view = a.view();
    std::vector<double> numbers(60), bounds(60);
    REQUIRE(perm_permanents(&view, &opts, numbers.data(), bounds.data()) == PERM_OK);
    CHECK(!told.together);
    CHECK(!told.falls);
    CHECK(told.last == 1);
}

TEST_CASE("parts that lie far apart stay, and a complex number is its own permanent") {
    for (const double re : {3.0, -1e-300, 3.378616390610921e16})
        for (const char *precision : {"auto", "exact"}) {
            const double values[] = {re, re == -1e-300 ? -1e300 : 0.1};
            perm_dense a = PERM_DENSE_INIT;
            a.n_rows = a.n_cols = 1;
            a.values = values;
            a.value_type = PERM_VALUE_C128;
            perm_opts opts = PERM_OPTS_INIT;
            opts.precision = precision;
            double number[2] = {7, 7}, bound = 7;
            REQUIRE(perm_permanents(&a, &opts, number, &bound) == PERM_OK);
            CHECK(same(number[1], values[1]));
            if (re > 0 || std::string(precision) == "exact") CHECK(same(number[0], re));
            CHECK(bound <= 0x1p-51 * std::hypot(re, values[1]));
        }
}
