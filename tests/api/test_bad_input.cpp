// Each bad input that can reach the library: its status, and words that name the place. Nothing is computed.
#include "bench/families.hpp"
#include "tests/support/check.hpp"
#include "tests/support/plan_shards.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

using namespace perm::families;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// A 3 x 3 matrix that is in order: row 1 holds columns 0 and 2.
perm::Csr sample() { return from_dense({{1, 2, 0}, {3, 0, 4}, {0, 5, 6}}); }

void check_text(const std::string &text, const std::vector<std::string> &words) {
    CAPTURE(text);
    CHECK_FALSE(text.empty());
    for (const std::string &word : words) {
        CAPTURE(word);
        CHECK(text.find(word) != std::string::npos);
    }
}

// The same refusal from the one-call form and, when the fault is not in the values, from making a plan.
void check_refused(const perm_csr &a, const perm_opts &opts, perm_status status,
                   const std::vector<std::string> &words, bool plan_too = true) {
    perm::Result r;
    CHECK(perm_compute(&a, &opts, r.raw()) == status);
    check_text(perm_last_error(), words);
    CHECK(r->text == nullptr);
    CHECK(r->mantissa_re == 0.0);
    if (!plan_too) return;
    auto *plan = reinterpret_cast<perm_plan *>(&r); // to see that it is reset
    CHECK(perm_plan_create(&a, &opts, &plan) == status);
    check_text(perm_last_error(), words);
    CHECK(plan == nullptr);
}

void check_bad_matrix(const perm::Csr &a, const std::vector<std::string> &words, bool plan_too = true) {
    check_refused(a.view(), PERM_OPTS_INIT, PERM_BAD_MATRIX, words, plan_too);
}

void check_bad_option(const std::function<void(perm_opts &)> &spoil, const std::vector<std::string> &words) {
    perm_opts opts = PERM_OPTS_INIT;
    spoil(opts);
    check_refused(sample().view(), opts, PERM_BAD_OPTION, words);
}

} // namespace

TEST_CASE("the sample itself is fine") { CHECK(perm::compute(sample()).text() == "56"); }

TEST_CASE("index out of range") {
    for (const std::int64_t column :
         {std::int64_t{3}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max(),
          std::numeric_limits<std::int64_t>::min()}) {
        perm::Csr a = sample();
        a.col_idx[3] = column;
        check_bad_matrix(a, {"row 1", "column", std::to_string(column)});
    }
}

TEST_CASE("row pointers that decrease, do not start at 0 or do not end at nnz") {
    perm::Csr a = sample();
    a.row_ptr = {0, 4, 2, 6};
    check_bad_matrix(a, {"row_ptr", "1"});
    a.row_ptr = {1, 2, 4, 6};
    check_bad_matrix(a, {"row_ptr"});
    a.row_ptr = {0, 2, 4, 5};
    check_bad_matrix(a, {"row_ptr", "5", "6"});
    a.row_ptr = {0, 2, 4, 7};
    check_bad_matrix(a, {"row_ptr", "7", "6"});
    a.row_ptr = {0, 100, 4, 6}; // beyond nnz in between: nothing behind the arrays may be read
    check_bad_matrix(a, {"row_ptr"});
    a.row_ptr = {0, -5, 4, 6};
    check_bad_matrix(a, {"row_ptr"});
    a.row_ptr = {0, std::numeric_limits<std::int64_t>::max(), 4, 6};
    check_bad_matrix(a, {"row_ptr"});
}

TEST_CASE("a duplicate entry") {
    perm::Csr a = sample();
    a.col_idx[3] = 0;
    check_bad_matrix(a, {"row 1", "column 0", "twice"});
    a = constant(4, 1);
    a.col_idx[14] = 0; // row 3: 0 1 0 3
    check_bad_matrix(a, {"row 3", "column 0"});
}

TEST_CASE("NaN and infinity, in a call and in a plan's values") {
    for (const double bad : {not_a_number, -not_a_number, double{INFINITY}, -double{INFINITY}}) {
        perm::Csr a = sample();
        a.values[3] = bad;
        check_bad_matrix(a, {"row 1", "column 2"}, false);

        perm_plan *plan = nullptr;
        perm_csr view = a.view(); // whose values a plan does not need
        REQUIRE(perm_plan_create(&view, nullptr, &plan) == PERM_OK);
        perm::Result r;
        CHECK(perm_plan_execute(plan, a.values.data(), r.raw()) == PERM_BAD_MATRIX);
        check_text(perm_last_error(), {"row 1", "column 2"});
        CHECK(r->text == nullptr);
        perm_plan_destroy(plan);
    }
}

TEST_CASE("a NaN is found also where no permutation passes") {
    perm::Csr a = from_dense({{1, 0, 0}, {2, 3, 0}, {4, 5, 6}});
    a.values[1] = not_a_number; // below the diagonal of a triangular matrix
    check_bad_matrix(a, {"row 1", "column 0"}, false);
    a = from_dense({{1, 1, 1}, {0, 0, 0}, {1, 1, 1}}); // the answer would be 0
    a.values[4] = INFINITY;
    check_bad_matrix(a, {"row 2", "column 1"}, false);
}

TEST_CASE("null pointers") {
    const perm::Csr ones = sample();
    const perm_csr good = ones.view();
    perm::Result r;
    CHECK(perm_compute(nullptr, nullptr, r.raw()) == PERM_BAD_ARGUMENT);
    CHECK(perm_compute(&good, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_plan_create(&good, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_plan_execute(nullptr, ones.values.data(), r.raw()) == PERM_BAD_ARGUMENT);
    perm_csr a = good;
    a.row_ptr = nullptr;
    check_refused(a, PERM_OPTS_INIT, PERM_BAD_ARGUMENT, {"row_ptr"});
    a = good;
    a.col_idx = nullptr;
    check_refused(a, PERM_OPTS_INIT, PERM_BAD_ARGUMENT, {"col_idx"});
    a = good;
    a.values = nullptr;
    check_refused(a, PERM_OPTS_INIT, PERM_BAD_ARGUMENT, {"values"}, false);

    perm_plan *plan = nullptr;
    REQUIRE(perm_plan_create(&good, nullptr, &plan) == PERM_OK);
    CHECK(perm_plan_execute(plan, nullptr, r.raw()) == PERM_BAD_ARGUMENT);
    CHECK(perm_plan_execute(plan, ones.values.data(), nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_plan_destroy(plan) == PERM_OK);
}

TEST_CASE("negative and absurd sizes") {
    const perm::Csr ones = sample();
    const auto refused = [&](std::int64_t n, std::int64_t nnz) {
        CAPTURE(n);
        CAPTURE(nnz);
        perm_csr a = ones.view();
        a.n_rows = a.n_cols = n;
        a.nnz = nnz;
        perm::Result r;
        CHECK(perm_compute(&a, nullptr, r.raw()) / 100 == 1);
        CHECK(r->text == nullptr);
    };
    refused(-1, 6);
    refused(3, -1);
    refused(-3, -6);
    refused(std::numeric_limits<std::int64_t>::min(), 0);
    refused(0, 6); // entries without rows
}

TEST_CASE("kinds of index and value that do not exist") {
    const perm::Csr ones = sample();
    for (const int bad : {-1, 2, 77}) {
        perm_csr a = ones.view();
        a.index_type = bad;
        perm::Result r;
        CHECK(perm_compute(&a, nullptr, r.raw()) / 100 == 1);
        check_text(perm_last_error(), {"index_type", std::to_string(bad)});
    }
    for (const int bad : {-1, 5, 77}) {
        perm_csr a = ones.view();
        a.value_type = bad;
        perm::Result r;
        CHECK(perm_compute(&a, nullptr, r.raw()) / 100 == 1);
        check_text(perm_last_error(), {"value_type", std::to_string(bad)});
    }
}

TEST_CASE("options that do not exist") {
    check_bad_option([](perm_opts &o) { o.engine = "quick"; }, {"engine", "quick", "ryser", "frontier"});
    check_bad_option([](perm_opts &o) { o.engine = ""; }, {"engine"});
    check_bad_option([](perm_opts &o) { o.engine = "Ryser"; }, {"Ryser"});
    check_bad_option([](perm_opts &o) { o.device = "abacus"; }, {"device", "abacus"});
    check_bad_option([](perm_opts &o) { o.precision = "guess"; }, {"precision", "guess"});
}

TEST_CASE("reductions that do not exist") {
    struct Case {
        const char *without, *named;
    };
    for (const Case &c : {Case{"dmm", "\"dmm\""},
                          {"DM", "\"DM\""},
                          {"dm;fm", "\"dm;fm\""},
                          {" dm", "\" dm\""},
                          {"dm ", "\"dm \""},
                          {"dm, fm", "\" fm\""},
                          {"all,DM", "\"DM\""},
                          {"none", "\"none\""},
                          {",", "\"\""},
                          {"dm,", "\"\""},
                          {",dm", "\"\""},
                          {"dm,,fm", "\"\""},
                          {"d", "\"d\""},
                          {"d3", "\"d3\""}})
        check_bad_option([&](perm_opts &o) { o.without = c.without; },
                         {"without", c.named, "matching", "dm", "d1", "d2", "fm", "merge", "scaling", "all"});
    for (const char *bad : {"", "Paper", "paper,", "published", "auto,paper"})
        check_bad_option([&](perm_opts &o) { o.decompose = bad; },
                         {"decompose", '"' + std::string(bad) + '"', "auto", "paper"});
}

TEST_CASE("negative limits and numbers that are none") {
    check_bad_option([](perm_opts &o) { o.memory_limit_bytes = -1; }, {"memory_limit"});
    check_bad_option([](perm_opts &o) { o.time_limit_seconds = -1; }, {"time_limit"});
    check_bad_option([](perm_opts &o) { o.time_limit_seconds = not_a_number; }, {"time_limit"});
    check_bad_option([](perm_opts &o) { o.time_limit_seconds = -INFINITY; }, {"time_limit"});
    check_bad_option([](perm_opts &o) { o.threads = -1; }, {"threads"});
    check_bad_option([](perm_opts &o) { o.tolerance = -1e-9; }, {"tolerance"});
    check_bad_option([](perm_opts &o) { o.tolerance = not_a_number; }, {"tolerance"});
    check_bad_option([](perm_opts &o) { o.reserved = 1; }, {"reserved"});
}

TEST_CASE("what is allowed and odd is not refused") {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = opts.device = opts.precision = "auto";
    opts.time_limit_seconds = INFINITY;
    opts.memory_limit_bytes = std::numeric_limits<std::int64_t>::max();
    opts.tolerance = 1;
    opts.threads = 1000;
    opts.seed = std::numeric_limits<std::uint64_t>::max();
    CHECK(perm::compute(sample(), opts).text() == "56");
    opts.device = "cpu";
    opts.precision = "double";
    CHECK(perm::compute(sample(), opts).text() == "56");

    for (const char *names :
         {"", "all", "all,scaling", "scaling,scaling", "matching,dm,d1,d2,fm,merge,scaling"})
        for (const char *decompose : {"auto", "paper"}) {
            opts.without = names;
            opts.decompose = decompose;
            CHECK(perm::compute(sample(), opts).text() == "56");
        }

    perm::Csr a = sample();
    a.values[0] = -0.0;
    CHECK(perm::compute(a).text() == "36");
}

TEST_CASE("more entries than a matrix can hold") {
    for (const std::int64_t nnz : {std::int64_t{2}, std::int64_t{1} << 40, std::int64_t{1} << 61}) {
        const std::int64_t row_ptr[] = {0, nnz}, col_idx[] = {0, 0};
        const double values[] = {1, 1};
        perm_csr a = PERM_CSR_INIT;
        a.n_rows = a.n_cols = 1;
        a.nnz = nnz;
        a.row_ptr = row_ptr;
        a.col_idx = col_idx;
        a.values = values;
        perm_result r = PERM_RESULT_INIT;
        CHECK(perm_compute(&a, nullptr, &r) == PERM_BAD_MATRIX);
        CHECK(std::string(perm_last_error()).find(std::to_string(nnz)) != std::string::npos);
    }
}

TEST_CASE("a perm::Csr whose parts do not fit each other is no view") {
    const auto spoilt = [](const std::function<void(perm::Csr &)> &spoil) {
        perm::Csr a = sample();
        spoil(a);
        return a;
    };
    CHECK_THROWS_AS(perm::compute(spoilt([](perm::Csr &a) { a.values.resize(2); })), perm::Error);
    CHECK_THROWS_AS(perm::compute(spoilt([](perm::Csr &a) { a.values.push_back(1); })), perm::Error);
    CHECK_THROWS_AS(perm::compute(spoilt([](perm::Csr &a) { a.row_ptr = {0, 2}; })), perm::Error);
    CHECK_THROWS_AS(perm::compute(spoilt([](perm::Csr &a) { a.row_ptr.clear(); })), perm::Error);
    CHECK_THROWS_AS(perm::compute(spoilt([](perm::Csr &a) { a.col_idx.pop_back(); })), perm::Error);
    CHECK_THROWS_AS(perm::compute(spoilt([](perm::Csr &a) { a.complex_values.resize(2); })), perm::Error);
    CHECK_THROWS_AS(perm::compute(spoilt([](perm::Csr &a) { a.values.clear(); })), perm::Error);
    CHECK(perm::compute(spoilt([](perm::Csr &a) { a.pattern = true, a.values.clear(); })).text() == "2");
}

TEST_CASE("ranges of values are compared with what a plan reads") {
    const perm::Csr a = sample();
    perm::Plan plan(a);
    CHECK(plan.execute(a.values).text() == "56");
    const double as_array[] = {1, 2, 3, 4, 5, 6};
    CHECK(plan.execute(as_array).text() == "56");
    CHECK_THROWS_AS(plan.execute(std::vector<double>(5, 1.0)), perm::Error);
    CHECK_THROWS_AS(plan.execute(std::vector<double>(7, 1.0)), perm::Error);
    CHECK_THROWS_AS(plan.execute(std::vector<std::int64_t>(6, 1)), perm::Error);
    CHECK_THROWS_AS(perm::Task::plan(plan, std::vector<double>(2, 1.0)), perm::Error);
    CHECK(in_shards(plan, a.values.data()).text() == "56");

    perm::Plan loaded = perm::Plan::load(plan.save());
    CHECK_THROWS_AS(loaded.execute(a.values), perm::Error);
    loaded.check_matrix(a.view());
    CHECK(loaded.execute(a.values).text() == "56");

    std::vector<double> two = a.values;
    two.insert(two.end(), a.values.begin(), a.values.end());
    CHECK(perm::Task::batch(plan, two, 6, 2).run()[1].text().empty());
    CHECK(perm::Task::batch(plan, a.values, 0, 2).run()[1]->re == 56);
    CHECK_THROWS_AS(perm::Task::batch(plan, two, 6, 3), perm::Error);
    CHECK_THROWS_AS(perm::Task::batch(plan, two, 7, 2), perm::Error);
    CHECK(perm::Task::plan(plan, a.values).run()[0].text() == "56");
    CHECK_THROWS_AS(perm::Task::gradient(plan, std::vector<double>(1)), perm::Error);
    CHECK(perm::polynomial(a.view(), a.values).back()->re == doctest::Approx(56));
    CHECK_THROWS_AS(perm::polynomial(a.view(), std::vector<double>(3)), perm::Error);

    std::vector<double> derivatives(6), bounds(6), of_c(6);
    CHECK(plan.gradient(a.values, derivatives, bounds).text() == "56");
    CHECK(plan.gradient(a.values.data(), of_c.data()).text() == "56");
    CHECK(derivatives == of_c);
    CHECK(plan.gradient(a.values, derivatives).text() == "56");
    plan.hessian_product(a.values, a.values, derivatives, bounds);
    std::vector<double> few(5);
    std::vector<std::complex<double>> pairs(6);
    CHECK_THROWS_AS(plan.gradient(a.values, few), perm::Error);
    CHECK_THROWS_AS(plan.gradient(a.values, pairs), perm::Error);
    CHECK_THROWS_AS(plan.gradient(few, derivatives), perm::Error);
    CHECK_THROWS_AS(plan.gradient(a.values, derivatives, few), perm::Error);
    CHECK_THROWS_AS(plan.hessian_product(a.values, few, derivatives), perm::Error);
    CHECK_THROWS_AS(plan.hessian_product(a.values, a.values, few), perm::Error);
    perm::Csr complex = a;
    complex.complex_values.assign(a.values.begin(), a.values.end());
    const perm::Plan of_complex(complex);
    std::vector<double> parts(12);
    of_complex.gradient(complex.complex_values, pairs, bounds);
    of_complex.gradient(complex.complex_values, parts);
    CHECK(pairs[3] == std::complex<double>(parts[6], parts[7]));
    CHECK(pairs[3].real() == doctest::Approx(of_c[3]));
    CHECK_THROWS_AS(of_complex.gradient(complex.complex_values, derivatives), perm::Error);

    const double weights[] = {1, 1, 1};
    perm_csr weighted = a.view();
    weighted.row_unmatched = weights;
    CHECK_THROWS_AS(perm::Plan(weighted).execute(a.values), perm::Error);
}
