// Derivatives by all entries, against exact permanents of minors.
#include "bench/families.hpp"
#include "tests/support/check.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

using namespace perm::families;
using oracle::Gaussian, oracle::GaussianMatrix;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// A matrix as a caller writes it, with what it refers to.
struct Written {
    std::int64_t rows = 0, cols = 0;
    std::vector<std::int64_t> row_ptr{0}, col, row_times, col_times;
    std::vector<Gaussian> value;
    std::vector<double> doubles;
    std::vector<std::int64_t> integers;
    std::vector<std::string> texts;
    std::vector<const char *> pointers;

    perm_csr view(perm_value_type type) {
        perm_csr a = PERM_CSR_INIT;
        a.n_rows = rows, a.n_cols = cols, a.nnz = std::ssize(col);
        a.row_ptr = row_ptr.data(), a.col_idx = col.data();
        a.value_type = type;
        for (const Gaussian &x : value) {
            doubles.push_back(x.re.get_d());
            if (type == PERM_VALUE_C128) doubles.push_back(x.im.get_d());
            integers.push_back(x.re.get_num().get_si());
            texts.push_back(x.re.get_str());
        }
        for (const std::string &text : texts) pointers.push_back(text.c_str());
        a.values = doubles.data();
        if (type == PERM_VALUE_I64) a.values = integers.data();
        if (type == PERM_VALUE_TEXT) a.values = pointers.data();
        if (type == PERM_VALUE_PATTERN) a.values = nullptr;
        if (!row_times.empty()) a.row_multiplicity = row_times.data();
        if (!col_times.empty()) a.col_multiplicity = col_times.data();
        return a;
    }

    // Which of the written lines each line of the whole matrix is; -1: a row of ones.
    static std::vector<std::int64_t> lines(std::int64_t count, const std::vector<std::int64_t> &times) {
        std::vector<std::int64_t> of;
        for (std::int64_t i = 0; i < count; ++i) of.insert(of.end(), times.empty() ? 1 : at(times[at(i)]), i);
        return of;
    }

    // By the definition: for all copies of an entry the permanents of their minors.
    std::vector<Gaussian> derivatives() const {
        std::vector<std::int64_t> row_of = lines(rows, row_times), col_of = lines(cols, col_times);
        const std::size_t ones = col_of.size() - row_of.size();
        row_of.resize(col_of.size(), -1);
        mpz_class ways;
        mpz_fac_ui(ways.get_mpz_t(), ones);
        const std::size_t n = col_of.size();
        std::vector<std::vector<std::int64_t>> entry(n, std::vector<std::int64_t>(n, -1));
        GaussianMatrix whole(n, std::vector<Gaussian>(n));
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                if (row_of[i] < 0) whole[i][j] = {1, 0};
                for (std::int64_t k = row_of[i] < 0 ? 0 : row_ptr[at(row_of[i])];
                     row_of[i] >= 0 && k < row_ptr[at(row_of[i]) + 1]; ++k)
                    if (col[at(k)] == col_of[j]) {
                        entry[i][j] = k;
                        whole[i][j] = value[at(k)];
                    }
            }
        std::vector<Gaussian> sum(col.size());
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                if (entry[i][j] < 0) continue;
                GaussianMatrix minor = whole;
                minor.erase(minor.begin() + static_cast<std::ptrdiff_t>(i));
                for (auto &row : minor) row.erase(row.begin() + static_cast<std::ptrdiff_t>(j));
                Gaussian &to = sum[at(entry[i][j])];
                to = to + (n == 1 ? Gaussian{1, 0} : oracle::by_subsets(minor));
            }
        for (Gaussian &x : sum) x = x / Gaussian{mpq_class(ways), 0};
        return sum;
    }
};

using Draw = Gaussian (*)(Random &);
struct Kind {
    const char *name;
    perm_value_type type;
    bool positive;
    Draw draw;
};

Gaussian real(double x) { return {mpq_class(x), 0}; }

const std::vector<Kind> kinds{
    {"positive", PERM_VALUE_F64, true, [](Random &r) { return real(1 - r.uniform()); }},
    {"signed", PERM_VALUE_F64, false, [](Random &r) { return real(r.uniform(-1, 1)); }},
    {"cancelling", PERM_VALUE_F64, false,
     [](Random &r) { return real((r.chance(0.5) ? 1 : -1) * (1 + r.uniform() * 0x1p-40)); }},
    {"far apart", PERM_VALUE_F64, false,
     [](Random &r) {
         return real((1 - r.uniform()) * std::exp2(static_cast<double>(r.integer(-1000, 1000))));
     }},
    {"far apart, signed", PERM_VALUE_F64, false,
     [](Random &r) {
         return real(r.uniform(-1, 1) * std::exp2(static_cast<double>(r.integer(-1060, 1000))));
     }},
    {"halves", PERM_VALUE_F64, false,
     [](Random &r) { return real(static_cast<double>(r.integer(-9, 9)) / 2); }},
    {"complex", PERM_VALUE_C128, false, [](Random &r) { return random_complex(Complexes::complex, r); }},
    {"complex, cancelling", PERM_VALUE_C128, false,
     [](Random &r) { return random_complex(Complexes::cancelling, r); }},
    {"complex integers", PERM_VALUE_C128, false,
     [](Random &r) { return random_complex(Complexes::integers, r); }},
    {"integers", PERM_VALUE_I64, false,
     [](Random &r) {
         return Gaussian{mpq_class(r.integer(-9, 9)), 0};
     }},
    {"large integers", PERM_VALUE_I64, true,
     [](Random &r) {
         return Gaussian{mpq_class((std::int64_t{1} << 62) + r.integer(0, 1000)), 0};
     }},
    {"pattern", PERM_VALUE_PATTERN, true,
     [](Random &) {
         return Gaussian{1, 0};
     }},
    {"fractions", PERM_VALUE_TEXT, true,
     [](Random &r) {
         return Gaussian{mpq_class(r.integer(1, 50)) / r.integer(3, 99), 0};
     }},
};

// Columns in any order, explicit zeros now and then.
Written random_written(std::int64_t rows, std::int64_t cols, const Kind &kind, Random &random) {
    Written a;
    a.rows = rows, a.cols = cols;
    const double density = random.uniform(0.3, 1);
    for (std::int64_t i = 0; i < rows; ++i) {
        for (const std::int64_t j : random.permutation(cols)) {
            if (j != i && !random.chance(density)) continue;
            a.col.push_back(j);
            const bool zero = kind.type != PERM_VALUE_PATTERN && random.chance(0.08);
            a.value.push_back(zero ? Gaussian{0, 0} : kind.draw(random));
        }
        a.row_ptr.push_back(std::ssize(a.col));
    }
    return a;
}

struct Found {
    std::vector<double> gradient, bounds;
    perm::Result result;
};

Found gradient_of(const perm::Plan &plan, const perm_csr &a) {
    Found found;
    found.gradient.assign(at(a.nnz) * (a.value_type == PERM_VALUE_C128 ? 2 : 1), std::nan(""));
    found.bounds.assign(at(a.nnz), std::nan(""));
    found.result = plan.gradient(a.values, found.gradient.data(), found.bounds.data());
    return found;
}

struct Tally {
    int compared = 0, exact = 0, beyond = 0;
};

void check_gradient(const Found &found, const std::vector<Gaussian> &truth, const Kind &kind, Tally &tally) {
    const std::size_t parts = kind.type == PERM_VALUE_C128 ? 2 : 1;
    for (std::size_t k = 0; k < truth.size(); ++k) {
        CAPTURE(k);
        const double re = found.gradient[parts * k], im = parts == 2 ? found.gradient[parts * k + 1] : 0;
        const double bound = found.bounds[k];
        ++tally.compared;
        if (!std::isfinite(re) || !std::isfinite(im) || !(bound < infinity)) {
            CHECK(bound == infinity);
            ++tally.beyond;
            continue;
        }
        CHECK(within({mpq_class(re), mpq_class(im)}, truth[k], mpq_class(bound)));
        tally.exact += bound == 0;
        if (kind.positive) CHECK(bound <= 1e-12 * std::fabs(re) + 0x1p-1072);
    }
}

struct PlanOfC {
    explicit PlanOfC(const perm_csr &a) { REQUIRE(perm_plan_create(&a, nullptr, &plan) == PERM_OK); }
    ~PlanOfC() { perm_plan_destroy(plan); }
    PlanOfC(const PlanOfC &) = delete;
    PlanOfC &operator=(const PlanOfC &) = delete;
    perm_plan *plan = nullptr;
};

} // namespace

TEST_CASE("each derivative is its minor's permanent, within its bound") {
    Random random(run::seed(1201));
    for (const Kind &kind : kinds) {
        const std::string name = kind.name;
        CAPTURE(name);
        Tally tally;
        for (int round = 0; round < run::cases(40); ++round) {
            CAPTURE(round);
            const std::int64_t n = round < 8 ? 1 + round / 4 : random.integer(1, 8);
            Written a = random_written(n, n, kind, random);
            const perm_csr view = a.view(kind.type);
            const perm::Plan plan(view);
            Found found = gradient_of(plan, view);
            check_gradient(found, a.derivatives(), kind, tally);
            GaussianMatrix dense(at(n), std::vector<Gaussian>(at(n)));
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t k = a.row_ptr[at(i)]; k < a.row_ptr[at(i) + 1]; ++k)
                    dense[at(i)][at(a.col[at(k)])] = a.value[at(k)];
            const Gaussian permanent = oracle::by_subsets(dense);
            if (!name.starts_with("far")) check_gaussian(*found.result.raw(), permanent);
            if (kind.type != PERM_VALUE_C128 && found.result->rel_error_bound < infinity)
                CHECK(abs(value_of(*found.result.raw()) - permanent.re) <=
                      mpq_class(found.result->rel_error_bound) * abs(permanent.re));
            Found again = gradient_of(plan, view);
            CHECK(std::memcmp(again.gradient.data(), found.gradient.data(),
                              found.gradient.size() * sizeof(double)) == 0);
            CHECK(std::memcmp(again.bounds.data(), found.bounds.data(),
                              found.bounds.size() * sizeof(double)) == 0);
        }
        CHECK(tally.compared > run::enough(100));
        CHECK(tally.beyond <= tally.compared / (name.starts_with("far") ? 1 : 1000));
        const bool whole = name.ends_with("integers") && name != "large integers";
        if (whole || name == "pattern" || name == "halves") CHECK(tally.exact == tally.compared);
    }
}

TEST_CASE("a batch: the bits of one at a time, also of lines that are repeated or of another number") {
    Random random(run::seed(1207));
    for (const Kind &kind : kinds) {
        if (kind.type == PERM_VALUE_PATTERN || kind.type == PERM_VALUE_TEXT) continue;
        const std::string name = kind.name;
        CAPTURE(name);
        const std::size_t parts = kind.type == PERM_VALUE_C128 ? 2 : 1;
        for (int round = 0; round < run::cases(8); ++round) {
            CAPTURE(round);
            const std::int64_t rows = random.integer(1, 6), cols = rows + random.integer(0, 2),
                               count = random.integer(1, 70);
            Written a = random_written(rows, cols, kind, random);
            if (round % 2 == 1) a.row_times.assign(at(rows), 1), a.row_times[0] = cols - rows + 1;
            const perm_csr view = a.view(kind.type);
            const perm::Plan plan(view);
            const PlanOfC of_c(view);
            const std::size_t nnz = at(view.nnz);
            const std::int64_t stride = random.chance(0.2) ? 0 : view.nnz + random.integer(0, 2);
            std::vector<double> many;
            std::vector<std::int64_t> integers;
            for (std::int64_t k = 0; k < count * std::max<std::int64_t>(stride, view.nnz); ++k) {
                const Gaussian x = kind.draw(random);
                many.push_back(x.re.get_d());
                if (parts == 2) many.push_back(x.im.get_d());
                if (kind.type == PERM_VALUE_I64) integers.push_back(x.re.get_num().get_si());
            }
            const void *values = many.data();
            if (kind.type == PERM_VALUE_I64) values = integers.data();
            std::vector<double> gradients(at(count) * nnz * parts), bounds(at(count) * nnz);
            std::vector<perm_result> results(at(count), perm_result PERM_RESULT_INIT);
            REQUIRE(perm_plan_gradient_batch(of_c.plan, values, stride, count, gradients.data(),
                                             bounds.data(), results.data()) == PERM_OK);
            for (std::int64_t k = 0; k < count; ++k) {
                CAPTURE(k);
                perm_csr alone = view;
                alone.values = static_cast<const char *>(values) + k * stride * std::int64_t(8 * parts);
                const Found found = gradient_of(plan, alone);
                CHECK(std::memcmp(found.gradient.data(), &gradients[at(k) * nnz * parts], nnz * parts * 8) ==
                      0);
                CHECK(std::memcmp(found.bounds.data(), &bounds[at(k) * nnz], nnz * 8) == 0);
                CHECK(results[at(k)].re == found.result->re);
                CHECK(results[at(k)].im == found.result->im);
                CHECK(results[at(k)].abs_error_bound == found.result->abs_error_bound);
                CHECK(results[at(k)].text == nullptr);
            }
        }
    }
}

TEST_CASE("a batch that is none, or has a matrix that is none") {
    Random random(run::seed(1208));
    Written a = random_written(3, 3, kinds[0], random);
    const perm_csr view = a.view(PERM_VALUE_F64);
    const PlanOfC of_c(view);
    const std::size_t nnz = at(view.nnz);
    std::vector<double> values(2 * nnz, 1), gradients(2 * nnz);
    perm_result results[2] = {PERM_RESULT_INIT, PERM_RESULT_INIT};
    const auto status = [&](const void *from, std::int64_t stride, std::int64_t count, double *to) {
        return perm_plan_gradient_batch(of_c.plan, from, stride, count, to, nullptr, results);
    };
    CHECK(status(values.data(), view.nnz - 1, 2, gradients.data()) == PERM_BAD_ARGUMENT);
    CHECK(status(values.data(), view.nnz, -1, gradients.data()) == PERM_BAD_ARGUMENT);
    CHECK(status(nullptr, view.nnz, 2, gradients.data()) == PERM_BAD_ARGUMENT);
    CHECK(status(values.data(), view.nnz, 2, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(status(nullptr, 0, 0, nullptr) == PERM_OK);
    CHECK(perm_plan_gradient_batch(nullptr, values.data(), 0, 1, gradients.data(), nullptr, nullptr) ==
          PERM_BAD_ARGUMENT);
    values[2 * nnz - 1] = std::nan("");
    CHECK(status(values.data(), view.nnz, 2, gradients.data()) == PERM_BAD_MATRIX);
    CHECK(std::string(perm_last_error()).starts_with("matrix 1 of the batch: "));
    CHECK(results[0].re == 0);
    CHECK(status(values.data(), view.nnz, 1, gradients.data()) == PERM_OK);
}

TEST_CASE("by a number that is written once and stands there often") {
    Random random(run::seed(1202));
    for (const Kind &kind : kinds) {
        const std::string name = kind.name;
        CAPTURE(name);
        Tally tally;
        for (int round = 0; round < run::cases(12); ++round) {
            Written a = random_written(random.integer(1, 4), 4, kind, random);
            for (std::int64_t i = 0; i < a.rows; ++i) a.row_times.push_back(random.integer(0, 2));
            for (std::int64_t j = 0; j < a.cols; ++j) a.col_times.push_back(random.integer(0, 2));
            a.col_times.back() += 2;
            if (Written::lines(a.rows, a.row_times).size() > Written::lines(a.cols, a.col_times).size())
                continue;
            const perm_csr view = a.view(kind.type);
            check_gradient(gradient_of(perm::Plan(view), view), a.derivatives(), kind, tally);
        }
        CHECK(tally.compared > run::enough(20));
    }
}

TEST_CASE("rectangular") {
    Random random(run::seed(1203));
    for (const Kind &kind : kinds) {
        const std::string name = kind.name;
        CAPTURE(name);
        Tally tally;
        for (int round = 0; round < run::cases(12); ++round) {
            const std::int64_t n = random.integer(2, 7);
            Written a = random_written(random.integer(1, n - 1), n, kind, random);
            const perm_csr view = a.view(kind.type);
            check_gradient(gradient_of(perm::Plan(view), view), a.derivatives(), kind, tally);
        }
        CHECK(tally.compared > run::enough(20));
    }
}

TEST_CASE("no entry, no matching") {
    perm_csr empty = PERM_CSR_INIT;
    perm::Result r = perm::Plan(empty).gradient(nullptr, nullptr);
    CHECK(r.text() == "1");
    const perm::Csr a = from_dense({{1, 1, 0}, {1, 1, 0}, {1, 1, 0}});
    std::vector<double> found(6, 7), bounds(6, 7);
    perm::Result zero = perm::Plan(a).gradient(a.values.data(), found.data(), bounds.data());
    CHECK(zero->exact == 1);
    CHECK(zero->re == 0);
    CHECK(found == std::vector<double>(6, 0));
    CHECK(bounds == found);
}

// Beyond the plans that have a tape: their own ways through the library.
TEST_CASE("larger matrices: minors computed exactly, and Euler's identity" * doctest::skip(run::sanitized)) {
    const std::vector<perm::Csr> matrices{banded(40, 2, 3, Entries::real, run::seed(1204)),
                                          banded(40, 3, 2, Entries::nonnegative, run::seed(1205)),
                                          weighted_grid(6, 6, Entries::nonnegative, run::seed(1206)).weights,
                                          erdos_renyi(17, 0.9, Entries::real, run::seed(1207)),
                                          erdos_renyi(18, 0.9, Entries::nonnegative, run::seed(1208)),
                                          roads(400, Entries::nonnegative, run::seed(1213))}; // on a tree
    Random random(run::seed(1209));
    int compared = 0;
    for (const perm::Csr &a : matrices) {
        const perm_csr view = a.view();
        Found found = gradient_of(perm::Plan(a), view);
        const Dense dense = to_dense(a);
        mpq_class sum = 0, radius = 0;
        for (std::int64_t i = 0, k = 0; i < a.n_rows; ++i)
            for (; k < a.row_ptr[at(i) + 1]; ++k) {
                const mpq_class value(a.values[at(k)]);
                sum += value * mpq_class(found.gradient[at(k)]);
                radius += abs(value) * mpq_class(found.bounds[at(k)]);
                if (!random.chance(12.0 / static_cast<double>(view.nnz))) continue;
                Dense minor = dense;
                minor.erase(minor.begin() + i);
                for (auto &row : minor) row.erase(row.begin() + a.col_idx[at(k)]);
                perm_opts opts = in_precision("auto", "exact");
                perm::Result truth = perm::compute(from_dense(minor), opts);
                REQUIRE(truth->exact == 1);
                CHECK(within(real(found.gradient[at(k)]), number_of(truth.text()),
                             mpq_class(found.bounds[at(k)])));
                ++compared;
            }
        perm::Result whole = perm::compute(a, in_precision("auto", "exact"));
        CHECK(abs(sum - number_of(whole.text()).re * a.n_rows) <= radius);
        CHECK(radius <= abs(sum) * 1e-3);
        CHECK(found.result->rel_error_bound < 1e-3);
    }
    CHECK(compared > run::enough(20));
}

// Partial products far beyond a double's range, and back.
TEST_CASE("a long band") {
    constexpr std::size_t n = 1500;
    const auto size = [](std::size_t i) { return i < n / 2 ? 4.0 : 0.25; };
    const perm::Csr a = build(n, n, [&](std::int64_t i, std::int64_t j) {
        if (std::abs(i - j) > 1) return 0.0;
        return size(at(i)) * (i == j ? 0.75 : i < j ? 0.5 : (i % 2 ? 0.5 : -0.5));
    });
    const perm_csr view = a.view();
    Found found = gradient_of(perm::Plan(a), view);
    const auto entry = [&](std::size_t i, std::size_t j) {
        return mpq_class(size(i) * (i == j ? 0.75 : i < j ? 0.5 : (i % 2 ? 0.5 : -0.5)));
    };
    std::vector<mpq_class> above(n + 1, 1), below(n + 2, 1); // of the first i rows, of the last from i on
    for (std::size_t i = 1; i <= n; ++i)
        above[i] = entry(i - 1, i - 1) * above[i - 1] +
                   (i > 1 ? mpq_class(entry(i - 1, i - 2) * entry(i - 2, i - 1) * above[i - 2]) : 0);
    for (std::size_t i = n; i-- > 0;)
        below[i] = entry(i, i) * below[i + 1] +
                   (i + 1 < n ? mpq_class(entry(i, i + 1) * entry(i + 1, i) * below[i + 2]) : 0);
    int compared = 0;
    for (std::size_t i = 0, k = 0; i < n; ++i)
        for (; k < at(a.row_ptr[i + 1]); ++k, ++compared) {
            const std::size_t j = at(a.col_idx[k]), low = std::min(i, j), high = std::max(i, j);
            const mpq_class truth = above[low] * (low == high ? mpq_class(1) : entry(j, i)) * below[high + 1];
            const double g = found.gradient[k], bound = found.bounds[k];
            CHECK(abs(mpq_class(g) - truth) <= mpq_class(bound));
        }
    CHECK(compared == 3 * n - 2);
    perm_result r = *found.result.raw();
    CHECK(abs(value_of(r) - above[n]) <= mpq_class(r.abs_error_bound));
}

TEST_CASE("what it refuses") {
    const perm::Csr a = erdos_renyi(22, 1, Entries::real, 7), small = erdos_renyi(14, 1, Entries::real, 7);
    for (const perm::Csr *matrix : {&a, &small}) {
        perm_opts opts = PERM_OPTS_INIT;
        opts.memory_limit_bytes = 200000;
        opts.engine = "frontier";
        std::vector<double> found(matrix->values.size(), 7);
        const auto before = found;
        perm_plan *raw = nullptr;
        const perm_csr view = matrix->view();
        REQUIRE(perm_plan_create(&view, &opts, &raw) == PERM_OK);
        CHECK(perm_plan_gradient(raw, matrix->values.data(), found.data(), nullptr, nullptr) ==
              PERM_REFUSED_MEMORY);
        CHECK(std::string(perm_last_error()).find("memory_limit_bytes") != std::string::npos);
        CHECK(found == before);
        CHECK(perm_plan_gradient(nullptr, matrix->values.data(), found.data(), nullptr, nullptr) ==
              PERM_BAD_ARGUMENT);
        CHECK(perm_plan_gradient(raw, matrix->values.data(), nullptr, nullptr, nullptr) == PERM_BAD_ARGUMENT);
        perm_plan_destroy(raw);
    }
    const perm::Csr dense = erdos_renyi(22, 1, Entries::real, 7);
    perm_opts opts = PERM_OPTS_INIT; // for its 22 * 2^21 ways at 48 bytes each, almost
    opts.memory_limit_bytes = 2'200'000'000;
    opts.engine = "frontier";
    std::vector<double> derivatives(dense.values.size());
    const perm::Plan plan(dense, opts);
    CHECK_THROWS_WITH_AS(plan.gradient(dense.values.data(), derivatives.data()),
                         doctest::Contains("about 4.61e+07 ways"), perm::Error); // before they are made
    const perm::Csr network = roads(300, Entries::nonnegative, run::seed(1214));
    opts.memory_limit_bytes = 200'000;
    std::vector<double> of_network(network.values.size());
    CHECK_THROWS_WITH_AS(perm::Plan(network, opts).gradient(network.values.data(), of_network.data()),
                         doctest::Contains("raise the limit: memory_limit_bytes"), perm::Error);
    std::vector<double> values = small.values, found(values.size(), 7);
    values[3] = infinity;
    CHECK_THROWS_WITH_AS(perm::Plan(small).gradient(values.data(), found.data()),
                         doctest::Contains("column 3 is infinite"), perm::Error);
    CHECK(found[0] == 7);
    Given text = given({{{1, 1}}}, As::text);
    CHECK_THROWS_AS(perm::Plan(text.csr).gradient(text.csr.values, found.data()), perm::Error);
}

// 0.6 * 26^2 entries at random: their frontier would be written out in gigabytes, and takes longer.
TEST_CASE("matrices that are nearly full go by sums over signs, in little memory") {
    for (const double density : {1.0, 0.7}) {
        const std::int64_t n = run::sanitized ? 14 : 19;
        const perm::Csr a = erdos_renyi(n, density, Entries::real, run::seed(1211));
        const perm_csr view = a.view();
        perm_opts opts = PERM_OPTS_INIT, along = PERM_OPTS_INIT;
        opts.memory_limit_bytes = 4'000'000;
        along.engine = "frontier";
        const Found sums = gradient_of(perm::Plan(a, opts), view),
                    tape = gradient_of(perm::Plan(a, along), view);
        CHECK(std::string(sums.result->engine) == "glynn");
        CHECK(std::string(tape.result->engine) == "frontier");
        for (std::size_t k = 0; k < tape.gradient.size(); ++k)
            CHECK(std::fabs(sums.gradient[k] - tape.gradient[k]) <=
                  (sums.bounds[k] + tape.bounds[k]) * 1.0001);
        CHECK(std::fabs(sums.result->re - tape.result->re) <=
              (sums.result->abs_error_bound + tape.result->abs_error_bound) * 1.0001);
    }
}

TEST_CASE("it can be cancelled, also while its frontier is written out") {
    const perm::Csr a = erdos_renyi(20, 1, Entries::real, 8);
    std::atomic<bool> stop{false};
    perm_opts opts = PERM_OPTS_INIT;
    opts.cancel = [](void *user) { return static_cast<std::atomic<bool> *>(user)->load() ? 1 : 0; };
    opts.cancel_user = &stop;
    const perm_csr view = a.view();
    perm_plan *plan = nullptr;
    REQUIRE(perm_plan_create(&view, &opts, &plan) == PERM_OK);
    std::vector<double> found(a.values.size());
    stop = true;
    CHECK(perm_plan_gradient(plan, a.values.data(), found.data(), nullptr, nullptr) == PERM_CANCELLED);
    stop = false;
    CHECK(perm_plan_gradient(plan, a.values.data(), found.data(), nullptr, nullptr) == PERM_OK);
    stop = true;
    CHECK(perm_plan_gradient(plan, a.values.data(), found.data(), nullptr, nullptr) == PERM_CANCELLED);
    perm_plan_destroy(plan);
}

TEST_CASE("many threads at once, from the first call on: the same bits") {
    for (const std::int64_t n : {12, 18}) {
        const perm::Csr a = erdos_renyi(n, 0.8, Entries::real, run::seed(1210));
        const perm_csr view = a.view();
        const perm::Plan plan(a);
        std::vector<Found> found(4);
        std::vector<std::thread> threads;
        for (Found &f : found) threads.emplace_back([&] { f = gradient_of(plan, view); });
        for (std::thread &t : threads) t.join();
        perm_opts one = PERM_OPTS_INIT;
        one.threads = 1;
        const Found alone = gradient_of(perm::Plan(a, one), view);
        for (const Found &f : found) {
            CHECK(f.gradient == alone.gradient);
            CHECK(f.bounds == alone.bounds);
        }
    }
}
