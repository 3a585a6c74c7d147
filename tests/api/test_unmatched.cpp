// Lines that may stay unmatched, against the sum over all matchings by its definition.
#include "tests/support/check.hpp"
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/matchings.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace perm::families;
using oracle::Gaussian;

namespace {

const DrawnKind kinds[]{
    {"positive", PERM_VALUE_F64, [](Random &r) { return real_number(1 - r.uniform()); }},
    {"signed", PERM_VALUE_F64, [](Random &r) { return real_number(r.uniform(-1, 1)); }},
    {"far apart", PERM_VALUE_F64,
     [](Random &r) {
         return real_number(r.uniform() * std::exp2(static_cast<double>(r.integer(-300, 300))));
     }},
    {"integers", PERM_VALUE_I64,
     [](Random &r) { return real_number(static_cast<double>(r.integer(-9, 9))); }},
    {"complex", PERM_VALUE_C128,
     [](Random &r) {
         return Gaussian{mpq_class(r.uniform(-1, 1)), mpq_class(r.uniform(-1, 1))};
     }},
    {"texts", PERM_VALUE_TEXT,
     [](Random &r) {
         return Gaussian{
             mpq_class(static_cast<long>(r.integer(-9, 9)), static_cast<unsigned long>(r.integer(1, 9))), 0};
     }},
    {"ones", PERM_VALUE_PATTERN, [](Random &) { return real_number(1); }},
};

Gaussian difference(const Gaussian &x, const Gaussian &y) { return {x.re - y.re, x.im - y.im}; }

// A pattern has no zeros and no weights but 1.
void make_pattern(MatchingMatrix &a) {
    for (auto *weights : {&a.row_weights, &a.col_weights})
        if (*weights)
            for (Gaussian &x : **weights) x = real_number(1);
}

MatchingInput input_of(MatchingMatrix &a, const DrawnKind &kind, Random &random) {
    for (auto &row : a.entries)
        for (Gaussian &x : row) x.re.canonicalize();
    for (auto *weights : {&a.row_weights, &a.col_weights})
        if (*weights)
            for (Gaussian &x : **weights) x.re.canonicalize();
    if (kind.type == PERM_VALUE_PATTERN) make_pattern(a);
    return {a, kind.type, random};
}

} // namespace

TEST_CASE("every engine sums over the matchings") {
    Random random(run::seed(2401));
    int nonzero = 0;
    for (const DrawnKind &kind : kinds)
        for (int i = 0; i < run::cases(120); ++i) {
            MatchingMatrix a = random_matchings(random, kind.draw);
            const MatchingInput input = input_of(a, kind, random);
            if (kind.type == PERM_VALUE_PATTERN && input.csr().nnz > 0) {
                std::int64_t ones = 0;
                for (const auto &row : a.entries)
                    for (const Gaussian &x : row) ones += !is_zero(x);
                if (ones != input.csr().nnz) continue; // a pattern cannot have zeros
            }
            const Gaussian truth = oracle::over_matchings(a);
            nonzero += !is_zero(truth);
            CAPTURE(kind.name);
            CAPTURE(i);
            for (const char *engine : {"auto", "ryser", "frontier", "tree"})
                for (const char *precision : {"auto", "exact"}) {
                    CAPTURE(engine);
                    CAPTURE(precision);
                    check_gaussian(*perm::compute(input.csr(), in_precision(engine, precision)).raw(), truth);
                }
            const perm::Plan plan(input.csr(), in_precision("auto", "auto"));
            check_gaussian(*plan.execute(input.values()).raw(), truth);
            const perm::Plan again = perm::Plan::load(plan.save(), in_precision("auto", "auto"));
            again.check_matrix(input.csr());
            check_gaussian(*again.execute(input.values()).raw(), truth);
            perm_csr unknown = input.csr(); // its values
            if (kind.type == PERM_VALUE_PATTERN) continue;
            unknown.values = nullptr;
            check_gaussian(*perm::Plan(unknown, in_precision("auto", "auto")).execute(input.values()).raw(),
                           truth);
        }
    CHECK(nonzero > run::enough(300));
}

TEST_CASE("of sparse matrices, whose engines are those of graphs") {
    Random random(run::seed(2403));
    int nonzero = 0;
    for (const DrawnKind &kind : kinds)
        for (int i = 0; i < run::cases(25); ++i) {
            MatchingMatrix a;
            a.cols = random.integer(8, 12);
            a.entries.assign(static_cast<std::size_t>(random.integer(8, 11)),
                             std::vector<Gaussian>(static_cast<std::size_t>(a.cols)));
            for (std::int64_t k = a.rows() * a.cols / 5; k > 0; --k)
                a.entries[static_cast<std::size_t>(random.integer(0, a.rows() - 1))]
                         [static_cast<std::size_t>(random.integer(0, a.cols - 1))] = kind.draw(random);
            const auto weights = [&](std::int64_t count) {
                std::vector<Gaussian> all;
                for (std::int64_t k = 0; k < count; ++k)
                    all.push_back(random.chance(0.1) ? Gaussian{} : kind.draw(random));
                return all;
            };
            a.row_weights = weights(a.rows());
            a.col_weights = weights(a.cols);
            if (i % 5 == 0) a.row_times.assign(static_cast<std::size_t>(a.rows()), 1), a.row_times[2] = 2;
            if (i % 7 == 0) a.col_times.assign(static_cast<std::size_t>(a.cols), 1), a.col_times[1] = 0;
            const MatchingInput input = input_of(a, kind, random);
            std::int64_t given = 0;
            for (const auto &row : a.entries)
                for (const Gaussian &x : row) given += !is_zero(x);
            if (kind.type == PERM_VALUE_PATTERN && given != input.csr().nnz) continue;
            const Gaussian truth = oracle::over_matchings(a);
            nonzero += !is_zero(truth);
            CAPTURE(kind.name);
            CAPTURE(i);
            for (const char *precision : {"auto", "exact"}) {
                check_gaussian(*perm::compute(input.csr(), in_precision("auto", precision)).raw(), truth);
                check_gaussian(*perm::compute(input.csr(), in_precision("frontier", precision)).raw(), truth);
            }
        }
    CHECK(nonzero > run::enough(100));
    // 10^10 entries, if each line had one beside it that is free: a path, whose matchings are Fibonacci's
    // numbers.
    constexpr std::int64_t n = 60000;
    std::vector<std::int64_t> row_ptr{0}, col;
    for (std::int64_t i = 0; i < n; ++i) {
        if (i < 500) col.push_back(i);
        if (i < 500) col.push_back(i + 1);
        row_ptr.push_back(std::ssize(col));
    }
    perm_csr path = PERM_CSR_INIT;
    path.n_rows = path.n_cols = n;
    path.nnz = std::ssize(col);
    path.row_ptr = row_ptr.data();
    path.col_idx = col.data();
    path.value_type = PERM_VALUE_PATTERN;
    std::vector<double> ones(n, 1);
    path.row_unmatched = path.col_unmatched = ones.data(); // which are not read of a pattern
    mpz_class fibonacci;
    mpz_fib_ui(fibonacci.get_mpz_t(), 1002);
    CHECK(perm::compute(path, in_precision("auto", "exact")).text() == fibonacci.get_str());
}

namespace {

// A dense matrix of fractions, all of whose lines may stay unmatched, at these weights.
struct DenseFractions {
    std::size_t n;
    std::vector<mpq_class> entries, row_weights, col_weights;

    template <class Call> auto run_with(const Call &call, bool has_weights) {
        std::vector<std::string> texts;
        std::vector<std::int64_t> row_ptr{0}, col;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                if (entries[i * n + j] == 0) continue;
                col.push_back(static_cast<std::int64_t>(j));
                texts.push_back(entries[i * n + j].get_str());
            }
            row_ptr.push_back(std::ssize(col));
        }
        for (const auto *numbers : {&row_weights, &col_weights})
            for (const mpq_class &x : *numbers) texts.push_back(x.get_str());
        std::vector<const char *> pointers;
        for (const std::string &text : texts) pointers.push_back(text.c_str());
        perm_csr a = PERM_CSR_INIT;
        a.n_rows = a.n_cols = static_cast<std::int64_t>(n);
        a.nnz = std::ssize(col);
        a.row_ptr = row_ptr.data();
        a.col_idx = col.data();
        a.value_type = PERM_VALUE_TEXT;
        a.values = pointers.data();
        a.row_unmatched = has_weights ? pointers.data() + a.nnz : nullptr;
        a.col_unmatched = has_weights ? pointers.data() + a.nnz + n : nullptr;
        return call(a);
    }

    perm::Result compute(const char *precision = "exact") {
        return run_with([&](const perm_csr &a) { return perm::compute(a, in_precision("auto", precision)); },
                        true);
    }
    // Of c A + x A: at once, or by a task that was saved.
    std::vector<perm::Result> polynomial(const mpq_class &c, bool by_task, const char *precision = "exact") {
        const auto of_both = [&](const perm_csr &a) {
            const auto *linear = static_cast<const char *const *>(a.values);
            std::vector<std::string> texts;
            for (std::int64_t k = 0; k < a.nnz; ++k)
                texts.push_back(mpq_class(c * mpq_class(linear[k])).get_str());
            std::vector<const char *> pointers;
            for (const std::string &text : texts) pointers.push_back(text.c_str());
            perm_csr constant = a;
            constant.values = pointers.data();
            const perm_opts opts = in_precision("auto", precision);
            if (!by_task) return perm::polynomial(constant, a.values, opts);
            return perm::Task::load(perm::Task::polynomial(constant, a.values, opts).save()).run();
        };
        return run_with(of_both, true);
    }
    std::vector<perm::Result> matchings() {
        return run_with([](const perm_csr &a) { return perm::matchings(a, in_precision("auto", "exact")); },
                        false);
    }
};

// With each entry over the weights of its lines, times all weights.
mpq_class from_numbers_of_matchings(DenseFractions a) {
    mpq_class weights = 1, sum = 0;
    for (std::size_t i = 0; i < a.n; ++i) {
        weights *= a.row_weights[i] * a.col_weights[i];
        for (std::size_t j = 0; j < a.n; ++j) a.entries[i * a.n + j] /= a.row_weights[i] * a.col_weights[j];
    }
    for (const perm::Result &number : a.matchings()) sum += mpq_class(number.text());
    return sum * weights;
}

} // namespace

TEST_CASE("beside a structure that the lines which may stay unmatched would hide") {
    Random random(run::seed(2404));
    for (int k = 0; k < 4; ++k) {
        CAPTURE(k);
        const bool is_board = k < 2, has_weights = k % 2 == 1;
        const std::size_t lines = is_board ? 28 : 26, fewer = is_board ? 24 : 13;
        DenseFractions a{run::sanitized ? fewer : lines, {}, {}, {}};
        std::vector<std::int64_t> x, y; // few different ones: then sums over subsets count
        for (std::size_t i = 0; i < a.n; ++i) {
            x.push_back(random.integer(0, 5));
            y.push_back(random.integer(0, 5));
            a.row_weights.emplace_back(!has_weights ? 1 : is_board ? random.integer(1, 2) : 2);
            a.col_weights.emplace_back(has_weights && !is_board ? mpq_class(1, 3) : mpq_class(1));
        }
        for (std::size_t i = 0; i < a.n; ++i)
            for (std::size_t j = 0; j < a.n; ++j)
                a.entries.emplace_back(is_board ? mpq_class(i <= j + a.n / 4 ? 1 : 0)
                                                : mpq_class(std::abs(x[i] - y[j]), 3));
        for (mpq_class &entry : a.entries) entry.canonicalize();
        const perm::Result found = a.compute();
        CHECK(found->exact == 1);
        CHECK(mpq_class(found.text()) == from_numbers_of_matchings(a));
        if (is_board) CHECK(found->n == std::ssize(a.row_weights)); // and not twice as many
        const std::string residue = a.compute("mod:1000003").text();
        mpz_class expected;
        const mpq_class value(found.text());
        mpz_invert(expected.get_mpz_t(), value.get_den_mpz_t(), mpz_class(1000003).get_mpz_t());
        CHECK(residue == mpz_class(expected * value.get_num() % 1000003).get_str());
        if (has_weights) continue;
        // sum_k M_k (c + x)^k: at c = 0 the numbers themselves
        const std::vector<perm::Result> numbers = a.matchings();
        const auto both = a.polynomial(0, false), saved = a.polynomial(0, true);
        REQUIRE(both.size() == numbers.size());
        REQUIRE(saved.size() == numbers.size());
        for (std::size_t m = 0; m < numbers.size(); ++m) {
            CHECK(both[m].text() == numbers[m].text());
            CHECK(saved[m].text() == numbers[m].text());
        }
        if (is_board) { // by their residues nobody could have them
            for (const bool by_task : {false, true}) {
                const auto residues = a.polynomial(0, by_task, "mod:1000003");
                REQUIRE(residues.size() == numbers.size());
                for (std::size_t m = 0; m < numbers.size(); ++m)
                    CHECK(residues[m].text() == mpz_class(mpz_class(numbers[m].text()) % 1000003).get_str());
            }
            continue; // of so many lines: seconds
        }
        const auto shifted = a.polynomial(2, false);
        mpq_class at_2 = 0;
        mpz_class power = 1;
        for (const perm::Result &number : numbers) {
            at_2 += mpq_class(number.text()) * power;
            power *= 2;
        }
        CHECK(mpq_class(shifted.at(0).text()) == at_2);
        CHECK(shifted.back().text() == numbers.back().text());
    }
}

TEST_CASE("of doubles beside a structure, and beside a checkpoint, which goes on from there") {
    constexpr std::size_t n = 40;
    std::vector<std::int64_t> row_ptr{0}, col;
    std::vector<double> values;
    DenseFractions exact{n, {}, {}, {}};
    std::vector<double> weights;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            exact.entries.emplace_back(std::abs(static_cast<int>(i) - static_cast<int>(j)), 4);
            exact.entries.back().canonicalize();
            if (i == j) continue;
            col.push_back(static_cast<std::int64_t>(j));
            values.push_back(exact.entries.back().get_d());
        }
        row_ptr.push_back(std::ssize(col));
        weights.push_back(0.5); // of one size: others have a rank of their own, and take longer
        exact.row_weights.emplace_back(weights.back());
        exact.col_weights.emplace_back(weights.back());
    }
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = n;
    a.nnz = std::ssize(col);
    a.row_ptr = row_ptr.data();
    a.col_idx = col.data();
    a.values = values.data();
    a.row_unmatched = a.col_unmatched = weights.data();
    const mpq_class truth(exact.compute().text());
    for (const char *precision : {"auto", "double", "dd"}) {
        CAPTURE(precision);
        const perm::Result found = perm::compute(a, in_precision("auto", precision));
        CHECK(found->n == n);
        CHECK(found->rel_error_bound <= 0x1p-52);
        CHECK(std::fabs(found->re / truth.get_d() - 1) <= 0x1p-51);
    }
    constexpr const char *once = "a single computation goes by the matrix's own structure";
    const perm::Plan plan(a); // of the lines written out: refused, and says how it is computed
    CHECK(plan.explain().find(once) != std::string::npos);
    std::vector<double> all = values; // then the weights of the rows, and of the columns
    for (int side = 0; side < 2; ++side) all.insert(all.end(), weights.begin(), weights.end());
    try {
        static_cast<void>(plan.execute(all.data()));
        CHECK(false);
    } catch (const perm::Error &error) {
        CHECK(std::string(error.what()).find(once) != std::string::npos);
    }
    CHECK(perm::Plan(a, in_precision("ryser", "auto")).explain().find(once) == std::string::npos);
    perm_csr without_values = a; // of any values, so of no structure
    without_values.values = nullptr;
    CHECK(perm::Plan(without_values).explain().find("a single computation") == std::string::npos);
    const TemporaryFolder folder;
    const std::string file = folder / "kept";
    perm_opts opts = in_precision("auto", "exact");
    opts.checkpoint = file.c_str();
    for (int time = 0; time < 2; ++time) {
        const perm::Result found = perm::compute(a, opts);
        CHECK(found->n == n);
        CHECK(mpq_class(found.text()) == truth);
    }
    weights[0] = 3; // another matrix's
    CHECK_THROWS_AS(perm::compute(a, opts), perm::Error);
}

TEST_CASE("derivatives by entries and weights are those of the sum") {
    Random random(run::seed(2402));
    int compared = 0;
    for (const DrawnKind &kind : kinds) {
        if (kind.type == PERM_VALUE_PATTERN || kind.type == PERM_VALUE_TEXT) continue;
        for (int i = 0; i < run::cases(150); ++i) {
            MatchingMatrix a = random_matchings(random, kind.draw);
            const MatchingInput input = input_of(a, kind, random);
            CAPTURE(kind.name);
            CAPTURE(i);
            const std::size_t parts = kind.type == PERM_VALUE_C128 ? 2 : 1;
            const auto count = static_cast<std::size_t>(input.value_count());
            std::vector<double> derivatives(count * parts + 1), bounds(count + 1);
            const perm::Plan plan(input.csr());
            check_gaussian(*plan.gradient(input.values(), derivatives.data(), bounds.data()).raw(),
                           oracle::over_matchings(a));
            for (std::size_t k = 0; k < count; ++k) {
                // It is linear in each line's copies together only where there is one.
                if (!a.row_times.empty() || !a.col_times.empty()) continue;
                const auto [row, col] = input.places()[k];
                const auto number = [&](MatchingMatrix &of) -> Gaussian & {
                    if (row < 0) return (*of.col_weights)[static_cast<std::size_t>(col)];
                    if (col < 0) return (*of.row_weights)[static_cast<std::size_t>(row)];
                    return of.entries[static_cast<std::size_t>(row)][static_cast<std::size_t>(col)];
                };
                MatchingMatrix with = a, without = a;
                number(with) = Gaussian{1, 0};
                number(without) = Gaussian{};
                const Gaussian truth =
                    difference(oracle::over_matchings(with), oracle::over_matchings(without));
                if (!std::isfinite(bounds[k]) || !std::isfinite(derivatives[k * parts])) continue;
                const Gaussian told{mpq_class(derivatives[k * parts]),
                                    parts == 2 ? mpq_class(derivatives[k * parts + 1]) : mpq_class(0)};
                CAPTURE(k);
                CHECK(within(told, truth, mpq_class(bounds[k])));
                ++compared;
            }
        }
    }
    CHECK(compared > run::enough(3000));
}
