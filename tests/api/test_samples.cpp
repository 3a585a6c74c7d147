// perm_sample: the law of its samples, by chi-square against exact probabilities; the same bits, whoever
// draws.
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/matchings.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shared_matrix.hpp"

#include <doctest/doctest.h>
#include <perm.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

using namespace perm::families;
using oracle::Gaussian;

namespace {

using Columns = std::vector<std::int64_t>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Of shots * n_rows columns.
Columns samples_of(const perm_csr &a, std::int64_t shots, std::uint64_t seed,
                   const perm_opts &opts = PERM_OPTS_INIT) {
    Columns columns(at(shots * a.n_rows), -7);
    const perm_status status = perm_sample(&a, &opts, shots, seed, columns.data());
    CHECK_MESSAGE(status == PERM_OK, perm_last_error());
    return columns;
}

// Observed less expected, in standard deviations of a chi-square of so many degrees of freedom (Wilson and
// Hilferty).
double deviations(double chi_square, double freedom) {
    const double v = 2 / (9 * freedom);
    return (std::cbrt(chi_square / freedom) - (1 - v)) / std::sqrt(v);
}

// No frontier fits: by rejection.
perm_opts by_rejection() {
    perm_opts opts = PERM_OPTS_INIT;
    opts.memory_limit_bytes = 1000;
    return opts;
}

constexpr double unlikely = 5; // deviations: once in some millions

// The weight of each matching, by the columns of its rows.
void add_matchings(const MatchingMatrix &a, std::size_t row, Columns &so_far, const mpq_class &weight,
                   std::map<Columns, mpq_class> &out) {
    const bool is_plain = !a.row_weights && !a.col_weights;
    if (row == a.entries.size()) {
        mpq_class all = weight;
        for (std::int64_t j = 0; j < a.cols; ++j) {
            if (std::find(so_far.begin(), so_far.end(), j) != so_far.end()) continue;
            if (a.col_weights)
                all *= (*a.col_weights)[at(j)].re;
            else if (!(is_plain && a.rows() <= a.cols))
                return;
        }
        if (all != 0) out[so_far] = all;
        return;
    }
    for (std::int64_t j = -1; j < a.cols; ++j) {
        mpq_class next = weight;
        if (j >= 0) {
            if (std::find(so_far.begin(), so_far.end(), j) != so_far.end()) continue;
            next *= a.entries[row][at(j)].re;
        } else if (a.row_weights) {
            next *= (*a.row_weights)[row].re;
        } else if (!(is_plain && a.rows() > a.cols)) {
            continue;
        }
        if (next == 0) continue;
        so_far.push_back(j);
        add_matchings(a, row + 1, so_far, next, out);
        so_far.pop_back();
    }
}

struct Square {
    double chi_square = 0, freedom = 0;
};

// Of its entries, and the lines behind them.
std::vector<double> marginals_of(const perm::Csr &a) {
    const perm_csr csr = a.view();
    perm_plan *plan = nullptr;
    REQUIRE(perm_plan_create(&csr, nullptr, &plan) == PERM_OK);
    std::vector<double> marginals(at(csr.nnz + csr.n_rows + csr.n_cols));
    REQUIRE(perm_plan_marginals(plan, a.values.data(), marginals.data(), nullptr, nullptr) == PERM_OK);
    perm_plan_destroy(plan);
    return marginals;
}

// Of drawn matchings; those that are expected fewer than five times count as one.
Square square_of(const std::map<Columns, mpq_class> &law, const Columns &drawn, std::int64_t shots,
                 std::int64_t rows) {
    std::map<Columns, double> counts;
    for (std::int64_t k = 0; k < shots; ++k)
        ++counts[Columns(drawn.begin() + k * rows, drawn.begin() + (k + 1) * rows)];
    mpq_class whole = 0;
    for (const auto &[matching, weight] : law) whole += weight;
    Square out;
    double rare_count = 0, rare_expected = 0, bins = 0;
    const auto add = [&](double count, double expected) {
        out.chi_square += (count - expected) * (count - expected) / expected;
        ++bins;
    };
    for (const auto &[matching, weight] : law) {
        const double expected = static_cast<double>(shots) * mpq_class(weight / whole).get_d();
        const double count = counts[matching];
        if (expected >= 5) {
            add(count, expected);
        } else {
            rare_count += count;
            rare_expected += expected;
        }
    }
    if (rare_expected >= 5)
        add(rare_count, rare_expected);
    else
        CHECK(rare_count < 40);
    for (const auto &[matching, count] : counts) CHECK(law.contains(matching)); // and nothing else was drawn
    out.freedom = bins - 1;
    return out;
}

} // namespace

TEST_CASE("each matching as often as its share says") {
    Random random(run::seed(2521));
    constexpr std::int64_t shots = 3000;
    Square all;
    int compared = 0;
    const struct {
        perm_value_type type;
        Gaussian (*draw)(Random &);
    } kinds[] = {{PERM_VALUE_F64,
                  [](Random &r) {
                      return Gaussian{mpq_class(1 - r.uniform()), 0};
                  }},
                 {PERM_VALUE_I64,
                  [](Random &r) {
                      return Gaussian{mpq_class(static_cast<double>(r.integer(1, 5))), 0};
                  }},
                 {PERM_VALUE_TEXT, [](Random &r) {
                      return Gaussian{mpq_class(static_cast<long>(r.integer(1, 9)), 7), 0};
                  }}};
    for (const auto &kind : kinds)
        for (int i = 0; i < run::cases(60); ++i) {
            MatchingMatrix a = random_matchings(random, kind.draw);
            a.row_times.clear(), a.col_times.clear();
            const MatchingInput input(a, kind.type, random);
            std::map<Columns, mpq_class> law;
            Columns none;
            add_matchings(a, 0, none, 1, law);
            CAPTURE(i);
            if (law.empty()) {
                Columns columns(at(a.rows()) + 1);
                CHECK(perm_sample(&input.csr(), nullptr, 1, 0, columns.data()) == PERM_BAD_MATRIX);
                continue;
            }
            for (const perm_opts &opts : {perm_opts PERM_OPTS_INIT, by_rejection()}) {
                const Columns drawn = samples_of(input.csr(), shots, random.bits(), opts);
                const Square one = square_of(law, drawn, shots, a.rows());
                ++compared;
                if (one.freedom < 1) continue;
                CHECK(deviations(one.chi_square, one.freedom) < unlikely);
                all.chi_square += one.chi_square;
                all.freedom += one.freedom;
            }
        }
    CHECK(compared > run::enough(200));
    CHECK(std::fabs(deviations(all.chi_square, all.freedom)) < unlikely);
}

TEST_CASE("large matrices: entries as often as the marginals say" * doctest::skip(run::sanitized)) {
    constexpr std::int64_t shots = 20000;
    std::vector<perm::Csr> matrices{grid(8, 8), grid(12, 10), process(60, Entries::nonnegative, 11),
                                    mesh2d(6, 12, Entries::nonnegative, 12),
                                    roads(300, Entries::nonnegative, 13)};
    if (perm::Csr curtis; shared_matrix("curtis54", curtis)) matrices.push_back(std::move(curtis));
    for (const perm::Csr &a : matrices) {
        const perm_csr csr = a.view();
        const Columns drawn = samples_of(csr, shots, 17);
        const std::vector<double> marginals = marginals_of(a);
        std::map<std::pair<std::int64_t, std::int64_t>, double> counts;
        for (std::int64_t k = 0; k < shots; ++k) {
            std::vector<bool> taken(at(csr.n_cols), false);
            for (std::int64_t i = 0; i < csr.n_rows; ++i) {
                const std::int64_t j = drawn[at(k * csr.n_rows + i)];
                REQUIRE((j >= 0 && j < csr.n_cols && !taken[at(j)]));
                taken[at(j)] = true;
                ++counts[{i, j}];
            }
        }
        double farthest = 0, seen = 0;
        int compared = 0;
        for (std::int64_t i = 0; i < csr.n_rows; ++i)
            for (std::int64_t e = a.row_ptr[at(i)]; e < a.row_ptr[at(i) + 1]; ++e) {
                const double p = marginals[at(e)], count = counts[{i, a.col_idx[at(e)]}];
                seen += count;
                const double deviation = std::sqrt(shots * p * (1 - p));
                if (deviation < 3) continue;
                farthest = std::max(farthest, std::fabs(count - shots * p) / deviation);
                ++compared;
            }
        CHECK(seen == shots * static_cast<double>(csr.n_rows)); // entries of the matrix, and no others
        CHECK(compared > 30);
        CHECK(farthest < 5.5);
    }
}

TEST_CASE("by rejection: entries as often as the marginals say") {
    constexpr std::int64_t shots = 4000;
    Random random(run::seed(2523));
    for (const perm::Csr &a :
         {erdos_renyi(14, 0.8, Entries::nonnegative, random.bits()),
          block_sum(erdos_renyi(9, 0.9, Entries::counts, random.bits()), grid(4, 4)), grid(6, 6)}) {
        const perm_csr csr = a.view();
        perm_opts opts = by_rejection(), one_thread = opts;
        one_thread.threads = 1;
        const Columns drawn = samples_of(csr, shots, 23, opts);
        CHECK(drawn == samples_of(csr, shots, 23, one_thread));
        const Columns few = samples_of(csr, 9, 23, opts);
        CHECK(std::equal(few.begin(), few.end(), drawn.begin()));
        const std::vector<double> marginals = marginals_of(a);
        double farthest = 0;
        for (std::int64_t i = 0; i < csr.n_rows; ++i)
            for (std::int64_t e = a.row_ptr[at(i)]; e < a.row_ptr[at(i) + 1]; ++e) {
                double count = 0;
                for (std::int64_t k = 0; k < shots; ++k)
                    count += drawn[at(k * csr.n_rows + i)] == a.col_idx[at(e)];
                const double p = marginals[at(e)], deviation = std::sqrt(shots * p * (1 - p));
                if (deviation > 3) farthest = std::max(farthest, std::fabs(count - shots * p) / deviation);
            }
        CHECK(farthest > 0.5);
        CHECK(farthest < 5.5);
    }
    // Far too large for anything else, and quick: nearly all ones.
    const perm::Csr dense = erdos_renyi(60, 0.9, Entries::ones, 3);
    const Columns drawn = samples_of(dense.view(), 20, 1);
    for (std::int64_t k = 0; k < 20; ++k) {
        std::vector<bool> taken(60, false);
        for (std::size_t i = 0; i < 60; ++i) taken[at(drawn[at(k) * 60 + i])] = true;
        CHECK(std::count(taken.begin(), taken.end(), true) == 60);
    }
}

TEST_CASE("the same samples on any number of threads, and however many are drawn") {
    for (const perm::Csr &a : {grid(8, 6), roads(400, Entries::nonnegative, 14)}) {
        perm_opts one = PERM_OPTS_INIT, four = PERM_OPTS_INIT;
        one.threads = 1;
        four.threads = 4;
        const Columns x = samples_of(a.view(), 5000, 3, one), y = samples_of(a.view(), 5000, 3, four),
                      few = samples_of(a.view(), 10, 3, four);
        CHECK(x == y);
        CHECK(std::equal(few.begin(), few.end(), x.begin()));
        CHECK(x != samples_of(a.view(), 5000, 4, one));
    }
}

TEST_CASE("planar blocks far too wide for a frontier" * doctest::skip(run::sanitized)) {
    Random random(run::seed(3312));
    const std::int64_t wide = 30;
    perm::Csr weighted = grid(wide + 2, wide + 2);
    for (double &x : weighted.values) x = std::pow(10.0, random.uniform(-300, 300));
    for (const perm::Csr &a : {grid(wide, wide), weighted, block_sum(grid(24, 26), grid(2, 3)),
                               block_sum(grid(20, 20), erdos_renyi(9, 0.9, Entries::counts, 4))}) {
        const std::int64_t shots = 60;
        const std::int64_t rows = a.n_rows;
        perm_opts one = PERM_OPTS_INIT, three = PERM_OPTS_INIT;
        one.threads = 1;
        three.threads = 3;
        const Columns drawn = samples_of(a.view(), shots, 3, one);
        CHECK(drawn == samples_of(a.view(), shots, 3, three));
        const Columns few = samples_of(a.view(), 7, 3, three);
        CHECK(std::equal(few.begin(), few.end(), drawn.begin()));
        CHECK(drawn != samples_of(a.view(), shots, 4, one));
        for (std::int64_t k = 0; k < shots; ++k) {
            std::vector<bool> taken(at(rows), false);
            for (std::int64_t i = 0; i < rows; ++i) {
                const std::int64_t j = drawn[at(k * rows + i)];
                const auto row = a.col_idx.begin() + a.row_ptr[at(i)],
                           end = a.col_idx.begin() + a.row_ptr[at(i) + 1];
                REQUIRE(std::find(row, end, j) != end);
                REQUIRE_FALSE(taken[at(j)]);
                taken[at(j)] = true;
            }
        }
        perm_opts limited = PERM_OPTS_INIT;
        limited.time_limit_seconds = 60;
        const perm_csr csr = a.view();
        Columns none(at(rows));
        CHECK(perm_sample(&csr, &limited, std::int64_t{1} << 40, 1, none.data()) == PERM_REFUSED_TIME);
    }
}

TEST_CASE("drawn some at a time: the samples of one call") {
    const std::int64_t shots = run::sanitized ? 1000 : 5000;
    Random random(run::seed(3311));
    const struct {
        perm::Csr a;
        perm_opts opts;
    } cases[] = {{grid(8, 6), PERM_OPTS_INIT},
                 {grid(6, 6), by_rejection()},
                 {block_sum(erdos_renyi(9, 0.9, Entries::counts, random.bits()), grid(4, 4)), by_rejection()},
                 {erdos_renyi(40, 0.9, Entries::ones, random.bits()), PERM_OPTS_INIT}};
    for (const auto &[a, opts] : cases) {
        const perm_csr csr = a.view();
        const std::uint64_t seed = random.bits();
        const Columns expected = samples_of(csr, shots, seed, opts);
        for (const std::int64_t most : {1500, 7}) {
            perm::Sampler sampler(csr, most == 7 ? 300 : shots, seed, opts);
            Columns found;
            for (std::int64_t left = most == 7 ? 300 : shots; left > 0;) {
                const std::int64_t count = std::min<std::int64_t>(left, random.integer(0, most));
                const Columns next = sampler.draw(count);
                found.insert(found.end(), next.begin(), next.end());
                left -= count;
            }
            REQUIRE(std::ssize(found) == (most == 7 ? 300 : shots) * csr.n_rows);
            CHECK(std::equal(found.begin(), found.end(), expected.begin()));
            CHECK_THROWS_AS(sampler.draw(1), perm::Error);
        }
    }
}

TEST_CASE("a sampler: what it refuses, and the same samples after that") {
    const perm::Csr a = grid(6, 6);
    const perm_csr csr = a.view();
    for (const perm_opts &given : {perm_opts PERM_OPTS_INIT, by_rejection()}) {
        static bool is_cancelled = false;
        perm_opts opts = given;
        opts.cancel = [](void *) { return int{is_cancelled}; };
        perm_sampler *sampler = nullptr;
        REQUIRE(perm_sampler_create(&csr, &opts, 10, 5, &sampler) == PERM_OK);
        Columns found(at(11 * csr.n_rows));
        CHECK(perm_sampler_draw(sampler, 11, found.data()) == PERM_BAD_ARGUMENT);
        CHECK(std::string(perm_last_error()).find("10 are left") != std::string::npos);
        CHECK(perm_sampler_draw(sampler, -1, found.data()) == PERM_BAD_ARGUMENT);
        CHECK(perm_sampler_draw(sampler, 1, nullptr) == PERM_BAD_ARGUMENT);
        CHECK(perm_sampler_draw(sampler, 0, nullptr) == PERM_OK);
        REQUIRE(perm_sampler_draw(sampler, 10, found.data()) == PERM_OK);
        found.resize(at(10 * csr.n_rows));
        CHECK(found == samples_of(csr, 10, 5, given));
        CHECK(perm_sampler_draw(sampler, 1, found.data()) == PERM_BAD_ARGUMENT);
        CHECK(std::string(perm_last_error()).find("0 are left") != std::string::npos);
        CHECK(perm_sampler_destroy(sampler) == PERM_OK);

        REQUIRE(perm_sampler_create(&csr, &opts, 1000000, 5, &sampler) == PERM_OK);
        std::this_thread::sleep_for(std::chrono::milliseconds(150)); // callbacks are that far apart
        is_cancelled = true;
        CHECK(perm_sampler_draw(sampler, 10, found.data()) == PERM_CANCELLED);
        is_cancelled = false;
        CHECK(perm_sampler_destroy(sampler) == PERM_OK);
    }
    CHECK(perm_sampler_destroy(nullptr) == PERM_OK);
    CHECK(perm_sampler_draw(nullptr, 1, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_sampler_create(&csr, nullptr, 1, 0, nullptr) == PERM_BAD_ARGUMENT);
    perm_sampler *none = nullptr;
    CHECK(perm_sampler_create(&csr, nullptr, -1, 0, &none) == PERM_BAD_ARGUMENT);
    CHECK(none == nullptr);
}

TEST_CASE("weights of any size") {
    Random random(run::seed(2522));
    // A permutation so heavy that there is no other, its weight spread over rows and columns.
    const std::int64_t n = 12;
    const std::vector<std::int64_t> heavy = random.permutation(n);
    perm::Csr a = build(n, n, [&](std::int64_t i, std::int64_t j) {
        return heavy[at(i)] == j ? 1e-20 : random.uniform(0.1, 1) * 1e-60;
    });
    std::vector<double> rows, columns;
    for (std::int64_t i = 0; i < n; ++i) {
        rows.push_back(std::exp2(static_cast<double>(random.integer(-800, 400))));
        columns.push_back(std::exp2(static_cast<double>(random.integer(-60, 400))));
    }
    a = scale(a, rows, columns);
    const Columns drawn = samples_of(a.view(), 50, 1);
    for (std::size_t k = 0; k < drawn.size(); ++k) CHECK(drawn[k] == heavy[k % at(n)]);
}

TEST_CASE("few entries in many lines, of which the others have nothing to draw") {
    constexpr std::int64_t n = 100000, shots = 40; // entries 3 in rows of their own, and one of weight 0
    std::vector<std::int64_t> row_ptr{0}, col;
    for (std::int64_t i = 0; i < n; ++i) {
        if (i % 2000 == 7) col.push_back(n - 1 - i);
        row_ptr.push_back(std::ssize(col));
    }
    const std::vector<double> values(col.size(), 3);
    std::vector<double> row_weights(at(n), 1);
    const std::vector<double> col_weights(at(n), 1);
    row_weights[7] = 0; // so it is always matched
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = n;
    a.nnz = std::ssize(col);
    a.row_ptr = row_ptr.data();
    a.col_idx = col.data();
    a.values = values.data();
    a.row_unmatched = row_weights.data();
    a.col_unmatched = col_weights.data();
    const Columns drawn = samples_of(a, shots, run::seed(2531));
    std::int64_t matched = 0, elsewhere = 0;
    for (std::int64_t shot = 0; shot < shots; ++shot)
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t column = drawn[at(shot * n + i)];
            const bool is_entry = i % 2000 == 7 && column == n - 1 - i;
            matched += is_entry && i > 7;
            elsewhere += column != -1 && !is_entry;
            if (i == 7) CHECK(is_entry);
        }
    CHECK(elsewhere == 0);
    constexpr double drawings = 49 * shots, share = 0.75; // 3 of 3 + 1 1
    CHECK(std::fabs(static_cast<double>(matched) - share * drawings) <
          5 * std::sqrt(share * (1 - share) * drawings));
    const perm::Task task = perm::Task::samples(a, 3, run::seed(2531));
    CHECK(perm::Task::load(task.save()).run_samples() == Columns(drawn.begin(), drawn.begin() + 3 * n));
    // Nothing but certain entries.
    const perm::Csr diagonal = banded(3, 0, 0, Entries::counts, 1);
    CHECK(samples_of(diagonal.view(), 2, 1) == Columns{0, 1, 2, 0, 1, 2});
    CHECK(perm::Task::samples(diagonal.view(), 2, 1).run_samples() == Columns{0, 1, 2, 0, 1, 2});
}

TEST_CASE("explicit zeros, nothing to draw, bad input") {
    const perm::Csr a = from_dense({{1, 2}, {3, 4}});
    perm::Csr with_zero = a;
    with_zero.values[0] = 0;
    const Columns forced = samples_of(with_zero.view(), 3, 5);
    CHECK(forced == Columns{1, 0, 1, 0, 1, 0});
    CHECK(samples_of(a.view(), 0, 1).empty());
    const perm_csr empty = PERM_CSR_INIT;
    CHECK(perm_sample(&empty, nullptr, 5, 1, nullptr) == PERM_OK);

    Columns to(1000);
    const auto status = [&](const perm_csr &csr, std::int64_t shots = 2) {
        return perm_sample(&csr, nullptr, shots, 0, to.data());
    };
    perm_csr csr = a.view();
    CHECK(status(csr, -1) == PERM_BAD_ARGUMENT);
    CHECK(perm_sample(nullptr, nullptr, 1, 0, to.data()) == PERM_BAD_ARGUMENT);
    CHECK(perm_sample(&csr, nullptr, 1, 0, nullptr) == PERM_BAD_ARGUMENT);
    const std::int64_t twice[] = {2, 1};
    csr.row_multiplicity = csr.col_multiplicity = twice;
    CHECK(status(csr) == PERM_UNSUPPORTED);
    CHECK(status(from_dense({{1, -2}, {3, 4}}).view()) == PERM_BAD_MATRIX);
    CHECK(status(given({{Gaussian{1, 1}}}, As::complex).csr) == PERM_BAD_MATRIX);
    CHECK(status(from_dense({{1, 0}, {3, 0}}).view()) == PERM_BAD_MATRIX);
    CHECK(std::string(perm_last_error()).find("no matching") != std::string::npos);
    // Too wide for a frontier, and few walks come through.
    const perm::Csr hard = permutation_plus(200, 5, Entries::nonnegative, 3);
    const perm_csr hard_csr = hard.view();
    perm_opts opts = PERM_OPTS_INIT;
    opts.time_limit_seconds = 1;
    CHECK(perm_sample(&hard_csr, &opts, 5, 0, to.data()) == PERM_REFUSED_TIME);
    CHECK_MESSAGE(std::string(perm_last_error()).find("walks") != std::string::npos,
                  std::string(perm_last_error()));
    opts = PERM_OPTS_INIT;
    opts.cancel = [](void *) { return 1; };
    csr = a.view();
    CHECK(perm_sample(&csr, &opts, 1, 0, to.data()) == PERM_CANCELLED);
}
