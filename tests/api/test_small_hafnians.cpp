// The straight road of small dense hafnians, as callers meet it: against their definition, against the plan's
// own ways, and what it leaves to these.
#include "tests/support/batches.hpp"
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/graph_matchings.hpp"
#include "tests/support/run.hpp"
#include "tests/support/small_entries.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <limits>

using namespace perm::families;
using oracle::Gaussian;

namespace {

// Only this road takes no time to check and to plan.
bool is_straight(const perm_result &r) {
    const std::string_view engine = r.engine ? r.engine : "";
    return (engine == "bjorklund" || engine == "hermite") && r.seconds_check == 0 && r.seconds_plan == 0;
}

// Full symmetric matrices one behind the other, as the C API takes them.
struct FullGraphs {
    std::int64_t n, parts;
    std::vector<std::int64_t> row_ptr{0}, col;
    std::vector<double> values;
    perm_csr csr = PERM_CSR_INIT;

    FullGraphs(std::int64_t lines, bool is_complex) : n(lines), parts(is_complex ? 2 : 1) {
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) col.push_back(j);
            row_ptr.push_back((i + 1) * n);
        }
        csr.n_rows = csr.n_cols = n;
        csr.nnz = n * n;
        csr.row_ptr = row_ptr.data();
        csr.col_idx = col.data();
        csr.value_type = is_complex ? PERM_VALUE_C128 : PERM_VALUE_F64;
    }
    FullGraphs(const FullGraphs &) = delete;

    template <class Draw> void add(const Draw &draw) {
        std::vector<double> a(at(n * n * parts));
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = i; j < n; ++j)
                for (std::int64_t p = 0; p < parts; ++p)
                    a[at((i * n + j) * parts + p)] = a[at((j * n + i) * parts + p)] = draw();
        values.insert(values.end(), a.begin(), a.end());
    }
    std::int64_t count() const { return std::ssize(values) / (n * n * parts); }
    double *one(std::int64_t k) { return values.data() + k * n * n * parts; }
    const perm_csr &matrix(std::int64_t k) {
        csr.values = one(k);
        return csr;
    }
    MatchingMatrix exactly(std::int64_t k) {
        MatchingMatrix a;
        a.cols = n;
        a.entries.assign(at(n), std::vector<Gaussian>(at(n)));
        const double *x = one(k);
        for (auto &row : a.entries)
            for (Gaussian &y : row) {
                y = {mpq_class(x[0]), parts == 2 ? mpq_class(x[1]) : mpq_class(0)};
                x += parts;
            }
        return a;
    }
};

const char *drawn_function(Random &random) { return random.chance(0.5) ? "hafnian" : "loop_hafnian"; }

bool has_loops(const char *function) { return function == std::string_view("loop_hafnian"); }

} // namespace

TEST_CASE("small graphs of every kind are within their bounds, and exact only where they say so") {
    Random random(run::seed(3931));
    int straight = 0, exact = 0, all = 0;
    for (int k = 0; k < run::cases(3000); ++k) {
        const std::int64_t kind = random.integer(0, entry_kinds - 1);
        FullGraphs given(random.integer(1, k % 20 == 0 ? 10 : 7), random.chance(0.5));
        given.add([&] { return entry(kind, random); });
        const char *function = drawn_function(random);
        CAPTURE(kind);
        CAPTURE(given.n);
        CAPTURE(given.parts);
        CAPTURE(std::string(function));
        perm::Result r = perm::compute(given.matrix(0), of_function(function));
        check_gaussian(*r.raw(), oracle::over_pairs(given.exactly(0), has_loops(function)));
        ++all;
        straight += is_straight(*r.raw());
        exact += is_straight(*r.raw()) && r->exact != 0;
    }
    CHECK(straight > all / 2);
    CHECK(exact > run::enough(200));
    CHECK(straight > exact);
}

TEST_CASE("sums over signs are engine bjorklund's, as a plan has them") {
    Random random(run::seed(3932));
    int compared = 0;
    for (const std::int64_t n : {7, 8, 9, 10, 11, 12, 13, 14, 16, 18})
        for (const bool is_complex : {false, true})
            for (const char *function : {"hafnian", "loop_hafnian"}) {
                FullGraphs given(n, is_complex);
                given.add([&] { return random.uniform(0.5, 1); }); // whose bounds meet the tolerance
                CAPTURE(n);
                perm::Result straight = perm::compute(given.matrix(0), of_function(function));
                perm::Result named = perm::compute(given.matrix(0), of_function(function, "bjorklund"));
                if (!is_straight(*straight.raw()) || std::string_view(named->engine) != "bjorklund") continue;
                CHECK(named->seconds_plan > 0);
                const double size = std::hypot(named->re, named->im),
                             last_digit =
                                 is_complex ? size * 0x1p-52 : 0; // both parts are rounded as one there
                CHECK(std::fabs(straight->re - named->re) <= last_digit);
                CHECK(std::fabs(straight->im - named->im) <= last_digit);
                CHECK(straight->rel_error_bound == doctest::Approx(named->rel_error_bound).epsilon(0.01));
                CHECK(straight->nnz == named->nnz);
                CHECK(straight->operations == named->operations);
                ++compared;
            }
    CHECK(compared > 20);
}

TEST_CASE("executions of a full plan, alone and in batches, have the bits of a call") {
    Random random(run::seed(3933));
    int compared = 0, all = 0;
    for (int round = 0; round < run::cases(60); ++round) {
        const std::int64_t kind = random.integer(0, entry_kinds - 1);
        FullGraphs given(random.integer(1, round % 5 == 0 ? 14 : 8), random.chance(0.5));
        for (std::int64_t k = random.integer(1, 70); k > 0; --k)
            given.add([&] { return entry(kind, random); });
        perm_opts opts = of_function(drawn_function(random));
        if (random.chance(0.2)) opts.precision = "double";
        opts.threads = static_cast<std::int32_t>(random.integer(0, 3));
        const PlanOf plan = plan_of(given.matrix(0), opts);
        Results results(given.count());
        REQUIRE(perm_plan_execute_batch(plan.get(), given.values.data(), given.n * given.n, given.count(),
                                        results.all.data()) == PERM_OK);
        for (std::int64_t k = 0; k < given.count(); ++k) {
            perm::Result alone;
            REQUIRE(perm_plan_execute(plan.get(), given.one(k), alone.raw()) == PERM_OK);
            check_as_executed(*alone.raw(), results[k]);
            perm::Result computed = perm::compute(given.matrix(k), opts);
            ++all;
            if (!is_straight(*computed.raw()) || !is_straight(*alone.raw())) continue;
            CHECK(same(computed->re, alone->re));
            CHECK(same(computed->im, alone->im));
            CHECK(same(computed->abs_error_bound, alone->abs_error_bound));
            CHECK(std::string_view(computed->text) == alone->text);
            ++compared;
        }
    }
    CHECK(compared > all / 3);
}

TEST_CASE("lines that repeat, prices of single lines and integers go straight, too") {
    Random random(run::seed(3934));
    int straight = 0, counted = 0;
    for (const DrawnKind &kind : kinds_of_numbers)
        for (int k = 0; k < run::cases(80); ++k) {
            DrawnGraph drawn{random_graph(random, 5, kind.draw), drawn_function(random), {}};
            MatchingMatrix &a = drawn.matrix;
            if (random.chance(0.7))
                for (std::int64_t i = 0; i < a.cols; ++i)
                    a.row_times.push_back(random.integer(0, a.cols < 4 ? 5 : 3));
            if (random.chance(0.5)) {
                a.row_weights.emplace();
                for (std::int64_t i = 0; i < a.cols; ++i)
                    a.row_weights->push_back(random.chance(0.2) ? Gaussian{} : kind.draw(random));
            }
            canonicalize(a);
            const MatchingInput input(a, kind.type, random);
            CAPTURE(kind.name);
            CAPTURE(k);
            perm::Result r;
            const perm_opts opts = of_function(drawn.function);
            REQUIRE(perm_compute(&input.csr(), &opts, r.raw()) == PERM_OK);
            check_gaussian(*r.raw(), oracle::over_pairs(a, has_loops(drawn.function)));
            straight += is_straight(*r.raw());
            if (!is_straight(*r.raw()) || std::string_view(r->engine) != "hermite") continue;
            ++counted;
            std::int64_t lines = 0, entries = 0; // with the copies written out
            const auto times = [&](std::int64_t i) { return a.row_times.empty() ? 1 : a.row_times[at(i)]; };
            for (std::int64_t i = 0; i < a.cols; ++i) {
                lines += times(i);
                const bool is_entry = !is_zero(a.entries[at(i)][at(i)]),
                           is_loop = a.row_weights ? !is_zero((*a.row_weights)[at(i)])
                                                   : is_entry && has_loops(drawn.function);
                entries += (is_entry ? times(i) * (times(i) - 1) / 2 : 0) + (is_loop ? times(i) : 0);
                for (std::int64_t j = i + 1; j < a.cols; ++j)
                    entries += is_zero(a.entries[at(i)][at(j)]) ? 0 : times(i) * times(j);
            }
            CHECK(r->n == lines);
            CHECK(r->nnz == entries);
        }
    CHECK(straight > run::enough(100));
    CHECK(counted > run::enough(50));
    for (std::int64_t n = 2; n <= 16; n += 2) { // (n - 1)!!
        FullGraphs ones(n, false);
        const std::vector<std::int64_t> all(at(n * n), 1);
        perm_csr csr = ones.csr;
        csr.value_type = PERM_VALUE_I64;
        csr.values = all.data();
        perm::Result r = perm::compute(csr, of_function("hafnian"));
        mpz_class odd = 1;
        for (std::int64_t k = 1; k < n; k += 2) odd *= static_cast<unsigned long>(k);
        CHECK(std::string(r.text()) == odd.get_str());
        CHECK(r->exact == 1);
        CHECK(is_straight(*r.raw()));
    }
}

TEST_CASE("what the straight road does not serve is answered, or refused, as ever") {
    Random random(run::seed(3935));
    FullGraphs given(8, false);
    given.add([&] { return random.uniform(-1, 1); });
    const perm_csr a = given.matrix(0);
    const auto check = [&](const std::function<void(perm_opts &)> &change, bool straight) {
        perm_opts opts = of_function("hafnian");
        change(opts);
        perm::Result r = perm::compute(a, opts);
        CHECK(is_straight(*r.raw()) == straight);
        check_gaussian(*r.raw(), oracle::over_pairs(given.exactly(0), false));
    };
    check([](perm_opts &) {}, true);
    check([](perm_opts &o) { o.precision = "double"; }, true);
    check([](perm_opts &o) { o.tolerance = 1e-30; }, false);
    check([](perm_opts &o) { o.engine = "frontier"; }, false);
    check([](perm_opts &o) { o.precision = "exact"; }, false);
    check([](perm_opts &o) { o.precision = "dd"; }, false);
    check([](perm_opts &o) { o.without = "all"; }, false);
    check([](perm_opts &o) { o.time_limit_seconds = 0.5; }, false);

    const auto refused = [&](double x, perm_status status) {
        FullGraphs other(8, false);
        other.values = given.values;
        other.one(0)[1] = x;
        const perm_opts opts = of_function("hafnian");
        perm::Result r;
        CHECK(perm_compute(&other.matrix(0), &opts, r.raw()) == status);
        return r;
    };
    const double upper = given.values[1];
    CHECK(is_straight(*refused(upper, PERM_OK).raw()));
    CHECK(refused(upper * (1 + 0x1p-47), PERM_OK)->re != 0);
    refused(upper * (1 + 0x1p-45), PERM_BAD_MATRIX);
    CHECK(std::string(perm_last_error()).find("(A + A^T)/2") != std::string::npos);
    refused(std::numeric_limits<double>::infinity(), PERM_BAD_MATRIX);
    refused(std::numeric_limits<double>::quiet_NaN(), PERM_BAD_MATRIX);
}

TEST_CASE("what rounded entries come to is no less than their terms say") {
    Random random(run::seed(3937));
    int compared = 0;
    for (int k = 0; k < run::cases(300); ++k) {
        const bool repeats = random.chance(0.5);
        FullGraphs given(repeats ? random.integer(2, 4) : random.integer(1, 4) * 2, false);
        given.add([&] { return random.chance(0.2) ? 0 : random.uniform(-1, 1); });
        const char *function = drawn_function(random);
        MatchingMatrix a = given.exactly(0);
        if (repeats)
            for (std::int64_t i = 0; i < given.n; ++i) a.row_times.push_back(random.integer(0, 3));
        MatchingMatrix sizes = a;
        for (auto &row : sizes.entries)
            for (Gaussian &x : row) x.re = abs(x.re);
        const mpq_class haf = oracle::over_pairs(a, has_loops(function)).re,
                        most = oracle::over_pairs(sizes, has_loops(function)).re;
        if (haf == 0) continue;
        perm_csr csr = given.matrix(0);
        if (repeats) csr.row_multiplicity = a.row_times.data();
        perm::Result r = perm::compute(csr, of_function(function));
        CAPTURE(k);
        // A term has n / 2 factors at least.
        const mpq_class share = most / abs(haf) * mpq_class(static_cast<double>(r->n) / 2 * 0x1p-53);
        CHECK(mpq_class(r->entry_rounding * (1 + 0x1p-40)) >= share);
        ++compared;
    }
    CHECK(compared > run::enough(100));
}

TEST_CASE("an explained plan of a graph tells whether its executions go straight") {
    Random random(run::seed(3936));
    for (const std::int64_t n : {4, 8, 12, 20, 22})
        for (const bool is_full : {true, false}) {
            FullGraphs given(n, true);
            given.add([&] { return random.uniform(0.5, 1); });
            const perm_opts opts = of_function("hafnian");
            perm_csr csr = given.matrix(0);
            std::vector<std::int64_t> row_ptr{0}, col; // a path
            const std::vector<double> ones(at(4 * n), 1);
            if (!is_full) {
                for (std::int64_t i = 0; i < n; ++i) {
                    if (i > 0) col.push_back(i - 1);
                    if (i + 1 < n) col.push_back(i + 1);
                    row_ptr.push_back(std::ssize(col));
                }
                csr.row_ptr = row_ptr.data();
                csr.col_idx = col.data();
                csr.nnz = std::ssize(col);
                csr.values = ones.data();
            }
            const perm::Plan plan(csr, opts);
            const auto json = nlohmann::json::parse(plan.explain(PERM_FORMAT_JSON));
            CHECK(json.at("executes_straight") == (is_full && n <= 20));
            CHECK(json.at("straight_road") == (n <= 8 || (is_full && n <= 20)));
            const bool in_words =
                plan.explain(PERM_FORMAT_TEXT).find("straight road: engine bjorklund") != std::string::npos;
            CHECK(json.at("straight_road") == in_words);
        }
}
