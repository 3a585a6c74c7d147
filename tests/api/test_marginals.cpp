// Probabilities of entries and unmatched lines, against exact rational ones.
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/matchings.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <utility>

using namespace perm::families;
using oracle::Gaussian;

namespace {

Gaussian &number(MatchingMatrix &of, MatchingInput::Place place) {
    if (place.row < 0) return (*of.col_weights)[static_cast<std::size_t>(place.col)];
    if (place.col < 0) return (*of.row_weights)[static_cast<std::size_t>(place.row)];
    return of.entries[static_cast<std::size_t>(place.row)][static_cast<std::size_t>(place.col)];
}

// Of entries, rows and columns, as the C API orders them.
std::vector<mpq_class> truth_of(const MatchingMatrix &a, const MatchingInput &input) {
    const mpq_class whole = oracle::over_matchings(a).re;
    const auto nnz = static_cast<std::size_t>(input.csr().nnz);
    const std::size_t rows = a.entries.size();
    std::vector<mpq_class> out(nnz + rows + static_cast<std::size_t>(a.cols), 0);
    for (std::size_t k = 0; k < input.places().size(); ++k) {
        MatchingMatrix without = a;
        number(without, input.places()[k]) = Gaussian{};
        const std::size_t to = k < nnz || a.row_weights ? k : k + rows;
        out[to] = (whole - oracle::over_matchings(without).re) / whole;
    }
    if (a.row_weights || a.col_weights || a.rows() == a.cols) return out;
    for (std::size_t line = 0; line < std::max(rows, static_cast<std::size_t>(a.cols)); ++line) {
        const bool by_rows = a.rows() > a.cols;
        mpq_class left = 1;
        for (std::size_t k = 0; k < nnz; ++k)
            if (static_cast<std::size_t>(by_rows ? input.places()[k].row : input.places()[k].col) == line)
                left -= out[k];
        out[nnz + (by_rows ? 0 : rows) + line] = left;
    }
    return out;
}

struct Found {
    std::vector<double> marginals, bounds;
    perm::Result result;
    perm_status status;
};

Found found_in(const perm_csr &a, const void *values) {
    Found found;
    const auto count = static_cast<std::size_t>(a.nnz + a.n_rows + a.n_cols);
    found.marginals.assign(count + 1, -1);
    found.bounds.assign(count + 1, -1);
    perm_plan *plan = nullptr;
    REQUIRE(perm_plan_create(&a, nullptr, &plan) == PERM_OK);
    found.status =
        perm_plan_marginals(plan, values, found.marginals.data(), found.bounds.data(), found.result.raw());
    perm_plan_destroy(plan);
    return found;
}

Found found_alone(const perm_csr &a) {
    Found found;
    const auto count = static_cast<std::size_t>(a.nnz + a.n_rows + a.n_cols);
    found.marginals.assign(count + 1, -1);
    found.bounds.assign(count + 1, -1);
    found.status =
        perm_marginals(&a, nullptr, found.marginals.data(), found.bounds.data(), found.result.raw());
    return found;
}

int compare(const Found &found, const std::vector<mpq_class> &truth, bool far_apart) {
    int compared = 0;
    for (std::size_t k = 0; k < truth.size(); ++k) {
        CAPTURE(k);
        if (std::isinf(found.bounds[k])) continue; // too far apart: that is said
        CHECK_MESSAGE(abs(mpq_class(found.marginals[k]) - truth[k]) <= mpq_class(found.bounds[k]),
                      found.marginals[k] << " +- " << found.bounds[k] << " true " << truth[k].get_d());
        CHECK((far_apart || found.bounds[k] <= 1e-13));
        ++compared;
    }
    CHECK(found.marginals[truth.size()] == -1);
    return compared;
}

} // namespace

TEST_CASE("probabilities are within their bounds of the exact ones") {
    Random random(run::seed(2411));
    int compared = 0, impossible = 0;
    for (const DrawnKind &kind : kinds_of_weights)
        for (int i = 0; i < run::cases(120); ++i) {
            MatchingMatrix a = random_matchings(random, kind.draw);
            a.row_times.clear(), a.col_times.clear();
            const MatchingInput input(a, kind.type, random);
            const Gaussian whole = oracle::over_matchings(a);
            CAPTURE(kind.name);
            CAPTURE(i);
            // Multiplicities of one change nothing but the road: along the frontier.
            const std::vector<std::int64_t> ones(8, 1);
            perm_csr by_frontier = input.csr();
            by_frontier.row_multiplicity = by_frontier.col_multiplicity = ones.data();
            const bool is_plain = !a.row_weights && !a.col_weights && a.rows() != a.cols;
            for (const perm_csr &way : {input.csr(), is_plain ? input.csr() : by_frontier}) {
                Found found = found_in(way, input.values());
                if (is_zero(whole)) {
                    CHECK(found.status == PERM_BAD_MATRIX);
                    CHECK(std::string(perm_last_error()).find("no matching") != std::string::npos);
                    CHECK(found.marginals.front() == -1);
                    ++impossible;
                    continue;
                }
                if (found.status == PERM_UNSUPPORTED && std::string(kind.name) == "far apart") continue;
                REQUIRE(found.status == PERM_OK);
                compared += compare(found, truth_of(a, input), std::string(kind.name) == "far apart");
                check_gaussian(*found.result.raw(), whole);
                Found alone = found_alone(way);
                REQUIRE(alone.status == PERM_OK);
                compare(alone, truth_of(a, input), std::string(kind.name) == "far apart");
                check_gaussian(*alone.result.raw(), whole);
            }
        }
    CHECK(compared > run::enough(5000));
    CHECK(impossible > run::enough(20));
}

TEST_CASE("more lines than there are sets for, against fewer") {
    Random random(run::seed(2412));
    // Three copies of one component beside each other: its probabilities, three times.
    for (int i = 0; i < run::cases(6); ++i) {
        MatchingMatrix one;
        one.cols = 5;
        one.entries.assign(6, std::vector<Gaussian>(5));
        for (auto &row : one.entries)
            for (Gaussian &x : row)
                if (random.chance(0.7)) x = real_number(1 - random.uniform());
        one.row_weights.emplace(), one.col_weights.emplace();
        for (int k = 0; k < 6; ++k) one.row_weights->push_back(real_number(random.uniform()));
        for (int k = 0; k < 5; ++k) one.col_weights->push_back(real_number(random.uniform()));
        MatchingMatrix three;
        three.cols = 15;
        three.entries.assign(18, std::vector<Gaussian>(15));
        three.row_weights.emplace(), three.col_weights.emplace();
        for (std::size_t copy = 0; copy < 3; ++copy) {
            for (std::size_t k = 0; k < 6; ++k) {
                std::copy(one.entries[k].begin(), one.entries[k].end(),
                          three.entries[6 * copy + k].begin() + static_cast<std::ptrdiff_t>(5 * copy));
                three.row_weights->push_back((*one.row_weights)[k]);
            }
            three.col_weights->insert(three.col_weights->end(), one.col_weights->begin(),
                                      one.col_weights->end());
        }
        Random same(1);
        const MatchingInput small(one, PERM_VALUE_F64, same);
        const std::vector<mpq_class> truth = truth_of(one, small);
        const MatchingInput large(three, PERM_VALUE_F64, random);
        const Found found = found_in(large.csr(), large.values());
        REQUIRE(found.status == PERM_OK);
        const Found alone = found_alone(large.csr());
        REQUIRE(alone.status == PERM_OK);
        const std::int64_t nnz = large.csr().nnz;
        std::size_t compared = 0;
        for (std::size_t k = 0; k < large.places().size(); ++k) {
            const auto place = large.places()[k];
            if (place.row >= 0 && place.col >= 0 && place.row / 6 != place.col / 5)
                continue; // a zero between copies
            for (std::size_t s = 0; s < small.places().size(); ++s) {
                const auto of = small.places()[s];
                const auto folded = [](std::int64_t line, std::int64_t lines) {
                    return line < 0 ? line : line % lines;
                };
                if (folded(place.row, 6) != of.row || folded(place.col, 5) != of.col) continue;
                for (const Found *way : {&found, &alone})
                    CHECK(abs(mpq_class(way->marginals[k]) - truth[s]) <= mpq_class(way->bounds[k]));
                ++compared;
            }
        }
        CHECK(compared >= 3 * 11);
        CHECK(nnz > 0);
    }
}

TEST_CASE("networks: an entry's share is what the permanent loses without it" *
          doctest::skip(run::sanitized)) {
    Random random(run::seed(2413));
    int compared = 0;
    for (const std::int64_t n : {60, 400}) {
        const perm::Csr a = roads(n, Entries::nonnegative, random.bits());
        const Found found = found_in(a.view(), a.values.data());
        REQUIRE(found.status == PERM_OK);
        const auto permanent = [](const perm::Csr &matrix) {
            return number_of(perm::compute(matrix, in_precision("auto", "exact")).text()).re;
        };
        const mpq_class whole = permanent(a);
        CHECK(abs(number_of(found.result.text()).re - whole) <=
              mpq_class(found.result->rel_error_bound) * whole);
        for (int k = 0; k < 6; ++k) {
            perm::Csr without = a;
            const auto entry = static_cast<std::size_t>(random.integer(0, std::ssize(a.values) - 1));
            without.values[entry] = 0;
            const mpq_class share = (whole - permanent(without)) / whole;
            CHECK(abs(mpq_class(found.marginals[entry]) - share) <= mpq_class(found.bounds[entry]));
            CHECK(found.bounds[entry] < 1e-11);
            ++compared;
        }
        double rows = 0;
        for (std::size_t k = 0; k < a.values.size(); ++k) rows += found.marginals[k];
        CHECK(std::fabs(rows - static_cast<double>(n)) < 1e-9);
    }
    CHECK(compared == 12);
}

TEST_CASE("batches: the numbers of single calls") {
    Random random(run::seed(2413));
    int compared = 0;
    for (const char *road : {"sets", "frontier"})
        for (int i = 0; i < run::cases(10); ++i) {
            const std::int64_t rows = random.integer(1, 4), cols = random.integer(1, 5);
            perm::Csr a;
            a.n_rows = rows, a.n_cols = cols;
            for (std::int64_t k = 0; k < rows; ++k) {
                for (std::int64_t j = 0; j < cols; ++j)
                    if (random.chance(0.8)) a.col_idx.push_back(j);
                a.row_ptr.push_back(std::ssize(a.col_idx));
            }
            const std::int64_t values = std::ssize(a.col_idx) + rows + cols, stride = values + 3;
            constexpr std::int64_t count = 70;
            std::vector<double> numbers(static_cast<std::size_t>(stride * count));
            for (double &x : numbers) x = 1 - random.uniform();
            perm_csr view = a.view();
            view.values = nullptr;
            view.row_unmatched = view.col_unmatched = numbers.data();
            const std::vector<std::int64_t> ones(8, 1);
            if (std::string(road) == "frontier") view.row_multiplicity = ones.data();
            perm_plan *plan = nullptr;
            REQUIRE(perm_plan_create(&view, nullptr, &plan) == PERM_OK);
            std::vector<double> all(static_cast<std::size_t>(values * count)), bounds(all.size());
            std::vector<perm_result> results(count, perm_result PERM_RESULT_INIT);
            REQUIRE(perm_plan_marginals_batch(plan, numbers.data(), stride, count, all.data(), bounds.data(),
                                              results.data()) == PERM_OK);
            for (std::int64_t k = 0; k < count; ++k) {
                std::vector<double> one(static_cast<std::size_t>(values)), bound(one.size());
                perm::Result single;
                REQUIRE(perm_plan_marginals(plan, numbers.data() + k * stride, one.data(), bound.data(),
                                            single.raw()) == PERM_OK);
                CHECK(results[static_cast<std::size_t>(k)].mantissa_re == single->mantissa_re);
                CHECK(results[static_cast<std::size_t>(k)].exp2 == single->exp2);
                CHECK(std::memcmp(one.data(), all.data() + k * values, one.size() * sizeof(double)) == 0);
                CHECK(std::memcmp(bound.data(), bounds.data() + k * values, one.size() * sizeof(double)) ==
                      0);
                ++compared;
            }
            numbers[static_cast<std::size_t>(stride * 7)] = -1;
            CHECK(perm_plan_marginals_batch(plan, numbers.data(), stride, count, all.data(), nullptr,
                                            results.data()) == PERM_BAD_MATRIX);
            CHECK(std::string(perm_last_error()).find("matrix 7 of the batch") != std::string::npos);
            for (const perm_result &r : results) CHECK(cleared(r));
            perm_plan_destroy(plan);
        }
    CHECK(compared > run::enough(1000));
}

TEST_CASE("what has no probabilities") {
    const std::int64_t row_ptr[]{0, 2, 4}, col[]{0, 1, 0, 1};
    double values[]{1, 2, 3, 4, 1, 1};
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = 2, a.nnz = 4;
    a.row_ptr = row_ptr, a.col_idx = col, a.values = values;
    a.row_unmatched = values + 4;
    perm_plan *plan = nullptr;
    REQUIRE(perm_plan_create(&a, nullptr, &plan) == PERM_OK);
    double out[8], bounds[8];
    const auto refuses = [&](std::size_t at, double x, const char *why) {
        const double before = std::exchange(values[at], x);
        CHECK(perm_plan_marginals(plan, values, out, bounds, nullptr) == PERM_BAD_MATRIX);
        CHECK_MESSAGE(std::string(perm_last_error()).find(why) != std::string::npos, perm_last_error());
        values[at] = before;
    };
    REQUIRE(perm_marginals(&a, nullptr, out, nullptr, nullptr) == PERM_OK);
    CHECK(perm_marginals(&a, nullptr, nullptr, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_marginals(nullptr, nullptr, out, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    values[0] = -1;
    CHECK(perm_marginals(&a, nullptr, out, nullptr, nullptr) == PERM_BAD_MATRIX);
    values[0] = 1;
    REQUIRE(perm_plan_marginals(plan, values, out, bounds, nullptr) == PERM_OK);
    refuses(1, -2, "row 0, column 1 is negative");
    refuses(2, std::nan(""), "row 1, column 0 is NaN");
    refuses(5, -1, "leaving row 1 unmatched is negative");
    refuses(4, INFINITY, "leaving row 0 unmatched is infinite");
    CHECK(perm_plan_marginals(plan, values, nullptr, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_plan_marginals(plan, nullptr, out, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_plan_marginals(nullptr, values, out, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_plan_marginals_batch(plan, values, 5, 2, out, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_plan_marginals_batch(plan, values, 6, -1, out, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    perm_plan_destroy(plan);
}

TEST_CASE("other precisions than double are refused") {
    const std::int64_t row_ptr[]{0, 1}, col[]{0};
    const double value[]{2};
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = a.nnz = 1;
    a.row_ptr = row_ptr, a.col_idx = col, a.values = value;
    for (const char *precision : {"auto", "double", "dd", "exact", "mod:101"}) {
        CAPTURE(precision);
        perm_opts opts = PERM_OPTS_INIT;
        opts.precision = precision;
        perm_plan *plan = nullptr;
        REQUIRE(perm_plan_create(&a, &opts, &plan) == PERM_OK);
        double out[3];
        const std::string name = precision;
        const bool is_served = name == "auto" || name == "double" || name == "exact";
        CHECK(perm_plan_marginals(plan, value, out, nullptr, nullptr) ==
              (is_served ? PERM_OK : PERM_UNSUPPORTED));
        CHECK(perm_plan_marginals_batch(plan, value, 0, 2, std::vector<double>(6).data(), nullptr, nullptr) ==
              (is_served ? PERM_OK : PERM_UNSUPPORTED));
        perm_plan_destroy(plan);
    }
}

TEST_CASE("tables over sets go to a GPU that is named, which has to be there") {
    Random random(run::seed(2418));
    MatchingMatrix a;
    a.cols = 18;
    a.entries.assign(14, std::vector<Gaussian>(18));
    for (auto &row : a.entries)
        for (Gaussian &x : row) x = real_number(1 - random.uniform());
    const MatchingInput input(a, PERM_VALUE_F64, random);
    std::vector<double> marginals(static_cast<std::size_t>(input.csr().nnz + 14 + 18), -1);
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = "gpu";
    perm::Result result;
    const perm_status status = perm_marginals(&input.csr(), &opts, marginals.data(), nullptr, result.raw());
    if (status == PERM_OK) {
        CHECK(std::string(result->device) == "gpu");
    } else {
        CHECK(status == PERM_UNSUPPORTED);
        CHECK(marginals.front() == -1);
    }
}

TEST_CASE("a weight below all normal doubles, of a line that has no entries") {
    Random random(run::seed(2419));
    for (const auto &[entry, weight] : {std::pair(3.0, 5e-324), {1.0, 5e-324}, {1e-310, 1e-310}}) {
        CAPTURE(entry);
        MatchingMatrix a;
        a.cols = 1;
        a.entries = {{real_number(entry)}, {real_number(0)}};
        a.row_weights = {real_number(0), real_number(weight)};
        a.col_weights = {real_number(0)};
        const MatchingInput input(a, PERM_VALUE_F64, random);
        std::vector<double> marginals(static_cast<std::size_t>(input.csr().nnz + 3));
        perm::Result result;
        REQUIRE(perm_marginals(&input.csr(), nullptr, marginals.data(), nullptr, result.raw()) == PERM_OK);
        check_gaussian(*result.raw(), oracle::over_matchings(a));
    }
}
