// Matchings of graphs through the C API: their numbers by size, and samples, against all that there are.
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/graph_copies.hpp"
#include "tests/support/polynomials.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string_view>

using namespace perm::families;
using oracle::Gaussian;

namespace {

using Columns = std::vector<std::int64_t>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// By the number of pairs, where any line may stay single.
std::vector<Gaussian> by_definition(const MatchingMatrix &a) {
    const std::size_t n = a.entries.size();
    std::vector<Gaussian> numbers(n / 2 + 1);
    const std::function<void(std::uint64_t, std::size_t, const Gaussian &)> go =
        [&](std::uint64_t left, std::size_t pairs, const Gaussian &product) {
            if (is_zero(product)) return;
            if (left == 0) {
                numbers[pairs] = numbers[pairs] + product;
                return;
            }
            const auto i = static_cast<std::size_t>(std::countr_zero(left));
            const std::uint64_t rest = left & (left - 1);
            go(rest, pairs, product);
            for (std::size_t j = i + 1; j < n; ++j)
                if (left >> j & 1) go(rest & ~(std::uint64_t{1} << j), pairs + 1, product * a.entries[i][j]);
        };
    go((std::uint64_t{1} << n) - 1, 0, {1, 0});
    return numbers;
}

// The partner of each line, itself by its loop, -1 by its weight, and the matching's weight.
std::map<Columns, mpq_class> all_matchings(const DrawnLines &of) {
    const MatchingMatrix &a = of.matrix;
    const std::size_t n = a.entries.size();
    std::map<Columns, mpq_class> all;
    Columns mates(n, -2);
    const std::function<void(const mpq_class &)> go = [&](const mpq_class &weight) {
        if (weight == 0) return;
        const auto i = static_cast<std::size_t>(std::find(mates.begin(), mates.end(), -2) - mates.begin());
        if (i == n) {
            all[mates] = weight;
            return;
        }
        const auto with = [&](std::size_t j, std::int64_t mate_of_i, const mpq_class &x) {
            mates[i] = mate_of_i;
            if (j != i) mates[j] = static_cast<std::int64_t>(i);
            go(weight * x);
            mates[i] = mates[j] = -2;
        };
        if (a.row_weights)
            with(i, -1, (*a.row_weights)[i].re);
        else if (of.has_loops())
            with(i, static_cast<std::int64_t>(i), a.entries[i][i].re);
        for (std::size_t j = i + 1; j < n; ++j)
            if (mates[j] == -2) with(j, static_cast<std::int64_t>(j), a.entries[i][j].re);
    };
    go(1);
    return all;
}

const DrawnKind weights[]{
    {"positive", PERM_VALUE_F64, [](Random &r) { return real_number(1 - r.uniform()); }},
    {"integers", PERM_VALUE_I64, [](Random &r) { return real_number(static_cast<double>(r.integer(1, 9))); }},
    {"texts", PERM_VALUE_TEXT,
     [](Random &r) {
         return Gaussian{mpq_class(static_cast<long>(r.integer(1, 9)), 7), 0};
     }},
};

// Of how often matchings were drawn; those that are expected fewer than five times count as one.
struct ChiSquare {
    double chi_square = 0, freedom = 0;

    void add(const std::map<Columns, mpq_class> &law, const Columns &drawn, std::size_t n) {
        std::map<Columns, double> counts;
        const double shots = n == 0 ? 1 : static_cast<double>(drawn.size() / n);
        for (auto at = drawn.begin(); at != drawn.end(); at += static_cast<std::ptrdiff_t>(n))
            ++counts[Columns(at, at + static_cast<std::ptrdiff_t>(n))];
        mpq_class whole = 0;
        for (const auto &[matching, weight] : law) whole += weight;
        for (const auto &[matching, count] : counts) CHECK(law.contains(matching)); // and nothing else
        double rare = 0, rare_expected = 0, bins = 0;
        const auto put = [&](double count, double expected) {
            chi_square += (count - expected) * (count - expected) / expected;
            ++bins;
        };
        for (const auto &[matching, weight] : law) {
            const double expected = shots * mpq_class(weight / whole).get_d();
            if (expected >= 5)
                put(counts[matching], expected);
            else
                rare += counts[matching], rare_expected += expected;
        }
        if (rare_expected >= 5) put(rare, rare_expected);
        freedom += std::max(0.0, bins - 1);
    }
    double deviations() const { // Wilson and Hilferty
        const double v = 2 / (9 * freedom);
        return (std::cbrt(chi_square / freedom) - (1 - v)) / std::sqrt(v);
    }
};

} // namespace

TEST_CASE("numbers of a graph's matchings are those of the definition") {
    Random random(run::seed(3921));
    int compared = 0, nonzero = 0;
    std::vector<DrawnKind> kinds = kinds_of_numbers;
    kinds.push_back({"ones", PERM_VALUE_PATTERN, [](Random &) { return real_number(1); }});
    for (const DrawnKind &kind : kinds)
        for (int k = 0; k < run::cases(60); ++k) {
            DrawnLines drawn = draw_lines(random, kind, 9);
            drawn.function = "hafnian";
            drawn.matrix.row_weights.reset();
            if (kind.type == PERM_VALUE_PATTERN) // it cannot have zeros
                for (auto &row : drawn.matrix.entries)
                    for (Gaussian &x : row) x = real_number(1);
            const MatchingInput input(drawn.matrix, kind.type, random);
            CAPTURE(kind.name);
            CAPTURE(k);
            perm_opts opts = of_function("hafnian");
            std::vector<perm::Result> found = perm::matchings(input.csr(), opts);
            const std::vector<Gaussian> truth = by_definition(GraphCopies(drawn).matrix);
            REQUIRE(found.size() == truth.size());
            for (std::size_t size = 0; size < truth.size(); ++size) {
                CAPTURE(size);
                check_gaussian(*found[size].raw(), truth[size]);
                nonzero += !is_zero(truth[size]);
                ++compared;
            }
            opts.precision = "exact";
            found = perm::matchings(input.csr(), opts);
            for (std::size_t size = 0; size < truth.size(); ++size)
                CHECK(number_of(found[size].text()) == truth[size]);
            if (truth.size() % 2 == 1) { // every line is in a pair: the hafnian
                opts.precision = "auto";
                if (GraphCopies(drawn).line.size() % 2 == 0)
                    check_gaussian(*perm::compute(input.csr(), opts).raw(), truth.back());
            }
        }
    CHECK(compared > run::enough(800));
    CHECK(nonzero > run::enough(600));
}

TEST_CASE("numbers of matchings of graphs as a task, saved and loaded, and what is refused") {
    Random random(run::seed(3922));
    const DrawnLines drawn = draw_lines(random, weights[0], 9, false);
    const MatchingInput input(drawn.matrix, PERM_VALUE_F64, random);
    perm_csr a = input.csr();
    a.row_unmatched = nullptr;
    const perm_opts opts = of_function("hafnian");
    std::vector<perm::Result> at_once = perm::matchings(a, opts);
    const perm::Task task = perm::Task::matchings(a, opts), loaded = perm::Task::load(task.save());
    for (const perm::Task *one : {&task, &loaded}) {
        std::vector<perm_result> raw(at_once.size(), perm_result PERM_RESULT_INIT);
        perm_answer answer = PERM_ANSWER_INIT;
        answer.results = raw.data(), answer.count = std::ssize(raw);
        REQUIRE_MESSAGE(perm_task_run(one->raw(), &answer) == PERM_OK, perm_last_error());
        for (std::size_t k = 0; k < raw.size(); ++k) {
            CHECK(std::string_view(raw[k].text) == at_once[k].text());
            perm_result_clear(&raw[k]);
        }
    }
    std::vector<perm_result> none(at_once.size() + 1, perm_result PERM_RESULT_INIT);
    const perm_opts loops = of_function("loop_hafnian");
    CHECK(perm_matchings(&a, &loops, std::ssize(at_once), none.data()) == PERM_UNSUPPORTED);
    CHECK(perm_matchings(&a, &opts, std::ssize(none), none.data()) == PERM_BAD_ARGUMENT);
    const std::vector<double> values{1, 2}; // not symmetric
    const std::vector<std::int64_t> row_ptr{0, 1, 2}, col{1, 0};
    a.n_rows = a.n_cols = a.nnz = 2;
    a.row_ptr = row_ptr.data(), a.col_idx = col.data(), a.values = values.data();
    none.assign(2, perm_result PERM_RESULT_INIT);
    CHECK(perm_matchings(&a, &opts, 2, none.data()) == PERM_BAD_MATRIX);
}

TEST_CASE("polynomials of hafnians are those of their values") {
    perm_set_log_level(1);
    Random random(run::seed(3925));
    int compared = 0, nonzero = 0;
    for (const DrawnKind &kind : kinds_of_numbers)
        for (int k = 0; k < run::cases(25); ++k) {
            const DrawnLines drawn = draw_lines(random, kind, 7);
            const MatchingMatrix &a = drawn.matrix;
            MatchingMatrix linear = a;
            for (std::size_t i = 0; i < a.entries.size(); ++i)
                for (std::size_t j = i; j < a.entries.size(); ++j)
                    linear.entries[i][j] = linear.entries[j][i] =
                        is_zero(a.entries[i][j]) || random.chance(0.4) ? Gaussian{} : kind.draw(random);
            if (linear.row_weights) linear.row_weights->assign(a.entries.size(), Gaussian{});
            canonicalize(linear);
            const MatchingInput input(a, kind.type, random);
            const TypedNumbers beside(numbers_beside(input, linear, false), input.csr().value_type);
            const std::int64_t lines = std::ssize(GraphCopies(drawn).line),
                               degree = drawn.has_loops() ? lines : lines / 2;
            const std::vector<Gaussian> truth = oracle::interpolated(degree, [&](long x) {
                return oracle::over_pairs(oracle::moved(a, linear, x), drawn.has_loops());
            });
            CAPTURE(kind.name);
            CAPTURE(k);
            CAPTURE(drawn.function);
            for (const char *precision : {"auto", "exact", "dd"}) {
                CAPTURE(precision);
                const perm_opts opts = of_function(drawn.function, "auto", precision);
                std::vector<perm::Result> found;
                try {
                    found = perm::polynomial(input.csr(), beside.data(), opts);
                } catch (const perm::Error &error) { // too far apart for doubles
                    CHECK(error.status() == PERM_UNSUPPORTED);
                    continue;
                }
                REQUIRE(found.size() == truth.size());
                for (std::size_t c = 0; c < truth.size(); ++c) {
                    CAPTURE(c);
                    check_gaussian(*found[c].raw(), truth[c]);
                    nonzero += !is_zero(truth[c]);
                    ++compared;
                }
            }
        }
    CHECK(compared > run::enough(1000));
    CHECK(nonzero > run::enough(500));
}

// What cancels at some x has roundings of C and L beside it.
TEST_CASE("a polynomial of halves that differ by rounding") {
    perm::Csr c = build(2, 2, [](std::int64_t i, std::int64_t j) {
        return i == j ? 0.0 : i < j ? 1.0 : 1 + 0x1p-48;
    });
    const double linear[] = {-1, -1};
    for (const char *precision : {"auto", "double", "dd"}) {
        perm_opts opts = PERM_OPTS_INIT;
        opts.function = "hafnian";
        opts.precision = precision;
        const std::vector<perm::Result> found = perm::polynomial(c.view(), linear, opts);
        REQUIRE(found.size() == 2);
        CHECK(found[0]->re == doctest::Approx(1));
        CHECK(found[1]->re == doctest::Approx(-1));
    }
}

TEST_CASE("each matching of a graph is drawn as often as its share says") {
    Random random(run::seed(3923));
    constexpr std::int64_t shots = 3000;
    ChiSquare all;
    int compared = 0, impossible = 0;
    for (const DrawnKind &kind : weights)
        for (int k = 0; k < run::cases(60); ++k) {
            const DrawnLines drawn = draw_lines(random, kind, 6, false);
            const MatchingInput input(drawn.matrix, kind.type, random);
            const auto n = at(drawn.matrix.cols);
            CAPTURE(kind.name);
            CAPTURE(k);
            CAPTURE(drawn.function);
            const std::map<Columns, mpq_class> law = all_matchings(drawn);
            for (const std::int64_t bytes : {0, 1000}) { // no tape fits: line by line
                perm_opts opts = of_function(drawn.function);
                opts.memory_limit_bytes = bytes;
                Columns columns(shots * n + 1, -7);
                const std::uint64_t seed = random.bits();
                const perm_status status = perm_sample(&input.csr(), &opts, shots, seed, columns.data());
                if (law.empty()) {
                    CHECK(status == PERM_BAD_MATRIX);
                    ++impossible;
                    continue;
                }
                REQUIRE_MESSAGE(status == PERM_OK, std::string(perm_last_error()));
                CHECK(columns.back() == -7);
                columns.pop_back();
                all.add(law, columns, n);
                ++compared;
                perm::Sampler sampler(input.csr(), shots, seed, opts); // whose first are the same
                const Columns few = sampler.draw(3);
                CHECK(std::equal(few.begin(), few.end(), columns.begin()));
            }
        }
    CHECK(compared > run::enough(160));
    CHECK(impossible > 0);
    CHECK(all.freedom > run::enough(400));
    CHECK(std::fabs(all.deviations()) < 5);
}

TEST_CASE("samples of a long graph take its entries as often as their probabilities say") {
    constexpr std::int64_t n = 120, shots = 20000;
    Random random(run::seed(3924));
    MatchingMatrix a;
    a.cols = n;
    a.entries.assign(at(n), std::vector<Gaussian>(at(n)));
    std::vector<std::int64_t> row_ptr{0}, col;
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = std::max<std::int64_t>(0, i - 3); j <= std::min(n - 1, i + 3); ++j) {
            if (i == j) continue;
            col.push_back(j);
            values.push_back(1 + static_cast<double>((i + j) * (i - j) * (i - j) % 7));
        }
        row_ptr.push_back(std::ssize(col));
    }
    perm_csr csr = PERM_CSR_INIT;
    csr.n_rows = csr.n_cols = n, csr.nnz = std::ssize(col);
    csr.row_ptr = row_ptr.data(), csr.col_idx = col.data(), csr.values = values.data();
    const perm_opts opts = of_function("hafnian");
    std::vector<double> marginals(col.size() + 2 * at(n));
    REQUIRE(perm_marginals(&csr, &opts, marginals.data(), nullptr, nullptr) == PERM_OK);
    Columns drawn(at(n * shots));
    const std::uint64_t seed = random.bits();
    REQUIRE(perm_sample(&csr, &opts, shots, seed, drawn.data()) == PERM_OK);
    std::map<std::pair<std::int64_t, std::int64_t>, double> counts;
    for (std::int64_t k = 0; k < shots; ++k)
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t j = drawn[at(k * n + i)];
            REQUIRE((j >= 0 && j < n && drawn[at(k * n + j)] == i));
            ++counts[{i, j}];
        }
    const perm::Task task = perm::Task::samples(csr, shots, seed, opts),
                     loaded = perm::Task::load(task.save());
    CHECK(task.run_samples() == drawn);
    CHECK(loaded.run_samples() == drawn);
    std::vector<std::string> parts;
    for (std::int64_t k = 0; k < loaded.shards(); ++k) parts.push_back(loaded.run_shard(k));
    CHECK(task.combine_samples(parts) == drawn);
    double farthest = 0;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t e = row_ptr[at(i)]; e < row_ptr[at(i) + 1]; ++e) {
            const double p = marginals[at(e)], deviation = std::sqrt(shots * p * (1 - p));
            if (deviation > 3)
                farthest = std::max(farthest, std::fabs(counts[{i, col[at(e)]}] - shots * p) / deviation);
        }
    CHECK(farthest > 0.5);
    CHECK(farthest < 5.5);
}

TEST_CASE("full graphs are drawn line by line, with the same bits on any number of threads") {
    Random random(run::seed(3926));
    const Given full =
        given(oracle::GaussianMatrix(14, std::vector<Gaussian>(14, Gaussian{1, 0})), As::complex);
    constexpr std::int64_t shots = 40;
    perm_opts opts = of_function("loop_hafnian");
    opts.memory_limit_bytes = 1000;
    const std::uint64_t seed = random.bits();
    const perm::Task task = perm::Task::samples(full.csr, shots, seed, opts);
    CHECK(task.explain().find("line by line") != std::string::npos);
    const Columns drawn = task.run_samples();
    for (std::size_t k = 0; k < drawn.size(); ++k)
        CHECK(drawn[k - k % 14 + at(drawn[k])] == static_cast<std::int64_t>(k % 14));
    opts.threads = 1;
    Columns again(drawn.size());
    REQUIRE(perm_sample(&full.csr, &opts, shots, seed, again.data()) == PERM_OK);
    CHECK(again == drawn);
}

TEST_CASE("of graphs too wide for a tree, and of too many lines, no samples are drawn, and a text says why") {
    const std::int64_t n = 70;
    std::vector<std::int64_t> row_ptr{0}, col;
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j)
            if (j != i) col.push_back(j);
        row_ptr.push_back(std::ssize(col));
    }
    perm_csr csr = PERM_CSR_INIT;
    csr.n_rows = csr.n_cols = n, csr.nnz = std::ssize(col);
    csr.row_ptr = row_ptr.data(), csr.col_idx = col.data(), csr.value_type = PERM_VALUE_PATTERN;
    const perm_opts opts = of_function("hafnian");
    Columns columns(at(n));
    CHECK(perm_sample(&csr, &opts, 1, 1, columns.data()) == PERM_REFUSED_MEMORY);
    CHECK(std::string_view(perm_last_error()).find("frontier") != std::string_view::npos);
}
