// Engine `sieve` as callers meet it: every kind of number, near misses, either side, limits, plans that are
// explained, saved, shared out and forged, and the choice among engines.
#include "bench/families.hpp"
#include "lib/base/archive.hpp"
#include "lib/input/options.hpp"
#include "lib/saved/plan.hpp"
#include "lib/sieve/sieve.hpp"
#include "tests/support/check.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/pattern.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace perm::families;
using oracle::Exact;

namespace {

perm_opts by(const char *engine, const char *precision = "auto") {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = engine;
    opts.precision = precision;
    opts.device = "cpu";
    return opts;
}

Exact exact_number(const std::string &text) { return Exact(mpq_class(text)); }

perm_csr with_values(const perm::Csr &a, perm_value_type type, const void *values) {
    perm_csr view = a.view();
    view.value_type = type;
    view.values = values;
    return view;
}

// Zeros and ones, `degree` ones in each line: a union of permutations without common places.
perm::Csr regular(std::int64_t n, std::int64_t degree, Random &random) {
    std::vector<std::int64_t> offsets = random.permutation(n);
    offsets.resize(static_cast<std::size_t>(degree));
    std::sort(offsets.begin(), offsets.end());
    return permute(circulant(n, offsets), random.permutation(n), random.permutation(n));
}

// As above with fewer symmetries.
perm::Csr nearly_regular(std::int64_t n, std::int64_t degree, Random &random) {
    return permutation_plus(n, degree - 1, Entries::ones, random.bits());
}

perm::Csr scaled(const perm::Csr &a, const std::vector<double> &row, const std::vector<double> &col) {
    Dense dense = to_dense(a);
    for (std::size_t i = 0; i < dense.size(); ++i)
        for (std::size_t j = 0; j < dense.size(); ++j) dense[i][j] *= row[i] * col[j];
    return from_dense(dense);
}

// Powers of two and small integers, of both signs: products are exact.
std::vector<double> exact_factors(std::int64_t n, Random &random) {
    std::vector<double> factors;
    for (std::int64_t k = 0; k < n; ++k)
        factors.push_back(
            std::ldexp(static_cast<double>(random.integer(1, 99)), static_cast<int>(random.integer(-9, 9))) *
            (random.chance(0.5) ? -1 : 1));
    return factors;
}

std::string text_by(const perm::Csr &a, const char *engine) {
    return perm::compute(a, by(engine, "exact")).text();
}

void check_exact(const perm::Csr &a, const char *engine, const Exact &truth) {
    CHECK(exact_number(text_by(a, engine)) == truth);
}

} // namespace

TEST_CASE("sieve: exact permanents of scaled small integers, or a refusal") {
    Random random(run::seed(0x73696541));
    int answered = 0;
    for (int k = 0; k < run::sweep(1500); ++k) {
        const std::int64_t n = random.integer(1, 14);
        perm::Csr a = random.chance(0.5)
                          ? nearly_regular(n, random.integer(1, std::min<std::int64_t>(n, 9)), random)
                          : erdos_renyi(n, random.uniform(0.2, 1), Entries::ones, random.bits());
        if (random.chance(0.5))
            for (double &x : a.values) x = random.chance(0.5) ? -x : x;
        if (random.chance(0.5)) a = scaled(a, exact_factors(n, random), exact_factors(n, random));
        CAPTURE(describe(a));
        const Exact truth = n <= 12 ? oracle::by_ryser(a) : oracle::by_frontier(a);
        perm_opts opts = by("sieve", random.chance(0.5) ? "exact" : "double");
        opts.without = random.chance(0.5) ? "all" : "";
        try {
            perm::Result r = perm::compute(a, opts);
            if (std::string(opts.precision) == "double")
                check_result(*r.raw(), truth);
            else
                CHECK(exact_number(r.text()) == truth);
            ++answered;
        } catch (const perm::Error &error) { // sums of entries by the reductions
            CHECK(error.status() == PERM_UNSUPPORTED);
        }
    }
    CHECK(answered > run::enough(run::sweep(1500)) / 2);
}

TEST_CASE("sieve: factors of lines that are small integers themselves are found") {
    Random random(run::seed(0x7369654a));
    for (int k = 0; k < run::cases(10); ++k) {
        const perm::Csr ones = nearly_regular(14, random.integer(3, 7), random);
        std::vector<double> rows, cols;
        for (int i = 0; i < 14; ++i) {
            rows.push_back(static_cast<double>(random.integer(1, 20)));
            cols.push_back(static_cast<double>(random.integer(1, 6)));
        }
        const perm::Csr a = scaled(ones, rows, cols);
        perm_opts opts = by("sieve", "exact");
        opts.without = "all"; // the same block of both, whose entries no reduction adds up
        CHECK(exact_number(perm::compute(a, opts).text()) == oracle::by_frontier(a));
        const auto states = [&](const perm::Csr &of) {
            const auto told = nlohmann::json::parse(perm::Plan(of, opts).explain(PERM_FORMAT_JSON));
            return told.at("candidates").at(0).at("states").get<double>();
        };
        CHECK(states(a) == states(ones));
    }
}

TEST_CASE("sieve: an entry that is off by an ulp makes it none of its blocks") {
    Random random(run::seed(0x73696542));
    for (int k = 0; k < run::cases(20); ++k) {
        const perm::Csr ones = regular(13, 5, random);
        perm::Csr a = scaled(ones, exact_factors(13, random), exact_factors(13, random));
        const Exact truth = oracle::by_frontier(a);
        check_exact(a, "sieve", truth);
        double &entry = a.values[static_cast<std::size_t>(random.integer(0, std::ssize(a.values) - 1))];
        entry = std::nextafter(entry, 2 * entry);
        CHECK_THROWS_WITH_AS(text_by(a, "sieve"), doctest::Contains("small integers"), perm::Error);
        CHECK(oracle::by_frontier(a) != truth);
        check_exact(a, "auto", oracle::by_frontier(a));
    }
}

TEST_CASE("sieve: rows or columns of other numbers beside small integers") {
    Random random(run::seed(0x73696549));
    int answered = 0, by_columns = 0;
    for (int k = 0; k < run::sweep(1000); ++k) {
        const std::int64_t n = random.integer(12, 14);
        Dense dense = to_dense(nearly_regular(n, random.integer(2, 6), random));
        const double unit = random.chance(0.5) ? 1 : random.uniform(0.1, 2);
        const bool has_signs = random.chance(0.5), is_far = random.chance(0.3);
        for (std::vector<double> &row : dense)
            for (double &x : row) x *= has_signs && random.chance(0.5) ? -unit : unit;
        for (std::int64_t others = random.integer(1, 3); others > 0; --others)
            for (double &x : dense[static_cast<std::size_t>(random.integer(0, n - 1))]) {
                if (x == 0 && random.chance(0.8)) continue;
                x = random.chance(0.5) ? random.uniform(-1, 1)
                                       : static_cast<double>(random.integer(-3000000000, 3000000000));
                if (is_far) x = std::ldexp(x, static_cast<int>(random.integer(-90, 90)));
            }
        const bool transposes = random.chance(0.5);
        perm::Csr a = from_dense(dense);
        if (transposes) a = transpose(a);
        CAPTURE(describe(a));
        const Exact truth = oracle::by_frontier(a);
        perm_opts opts = by("sieve", random.chance(0.5) ? "exact" : "auto");
        opts.without = random.chance(0.5) ? "all" : "";
        try {
            perm::Result r = perm::compute(a, opts);
            if (std::string(opts.precision) == "auto")
                check_result(*r.raw(), truth);
            else
                CHECK(exact_number(r.text()) == truth);
            ++answered;
            by_columns += r->transposed;
        } catch (const perm::Error &error) { // sums of entries by the reductions
            CHECK(error.status() == PERM_UNSUPPORTED);
        }
    }
    CHECK(answered > run::enough(run::sweep(1000)) / 2);
    CHECK(by_columns > answered / 8);
}

TEST_CASE(
    "sieve: other rows of fractions, complex numbers and large integers; modulo; shards; other values") {
    Random random(run::seed(0x7369654a));
    perm::Csr a = nearly_regular(30, 6, random);
    const auto begin = static_cast<std::size_t>(a.row_ptr[7]), end = static_cast<std::size_t>(a.row_ptr[8]);
    std::vector<std::string> fractions(a.values.size(), "2/3");
    std::vector<double> pairs;
    for (std::size_t k = begin; k < end; ++k) {
        fractions[k] = std::to_string(random.integer(-99, 99)) + "/" + std::to_string(k);
        a.values[k] = static_cast<double>(random.integer(1, 1 << 30));
    }
    std::vector<const char *> texts;
    for (const std::string &x : fractions) texts.push_back(x.c_str());
    for (std::size_t k = 0; k < a.values.size(); ++k)
        pairs.insert(pairs.end(), {a.values[k], begin <= k && k < end ? 0.5 : 0.0});
    const perm_csr in_text = with_values(a, PERM_VALUE_TEXT, texts.data()),
                   complex = with_values(a, PERM_VALUE_C128, pairs.data());
    for (const perm_csr &matrix : {a.view(), in_text, complex})
        for (const char *precision : {"exact", "mod:1000003"}) {
            if (matrix.values == pairs.data() && std::string(precision) != "exact") continue;
            perm::Result found = perm::compute(matrix, by("sieve", precision)),
                         truth = perm::compute(matrix, by("frontier", precision));
            CHECK(std::string(found->engine) == "sieve");
            CHECK(std::string(found.text()) == truth.text());
        }
    const perm_opts opts = by("sieve", "exact");
    const perm::Plan plan(a, opts);
    CHECK(plan.explain().find("1 rows of other numbers") != std::string::npos);
    const std::string bytes = plan.save();
    const perm::Plan loaded = perm::Plan::load(bytes, opts);
    CHECK(loaded.save() == bytes);
    for (const double factor : {1.0, 3.0}) {
        for (std::size_t k = begin; k < end; ++k) a.values[k] *= factor;
        perm::Result whole = loaded.execute(a.values.data());
        CHECK(std::string(whole.text()) == text_by(a, "frontier"));
        const perm::Task task = perm::Task::plan(loaded, a.values.data());
        std::vector<std::string> parts;
        for (std::int64_t k = 0; k < task.shards(); ++k) parts.push_back(task.run_shard(k));
        CHECK(std::string(task.combine(parts).front().text()) == whole.text());
    }
}

TEST_CASE("sieve: entries off by an ulp, and numbers too large, make rows of other numbers of theirs") {
    Random random(run::seed(0x7369654b));
    for (int k = 0; k < run::cases(20); ++k) {
        perm::Csr a = regular(13, 5, random);
        for (double &x : a.values) x = 0.3;
        double &entry = a.values[static_cast<std::size_t>(random.integer(0, std::ssize(a.values) - 1))];
        entry = k % 2 == 0 ? std::nextafter(entry, 1) : 127.5;
        check_exact(a, "sieve", oracle::by_frontier(a));
    }
}

TEST_CASE("sieve: fractions, complex factors and residues") {
    Random random(run::seed(0x73696543));
    const perm::Csr a = regular(20, 5, random);
    const Exact truth = oracle::by_frontier(a);
    CHECK(exact_number(text_by(a, "sieve")) == truth);
    std::vector<std::string> thirds;
    std::vector<const char *> texts;
    std::vector<double> pairs; // times 1 + i or its negative
    int minus = 0;
    for (std::int64_t i = 0; i < a.n_rows; ++i) {
        minus += i % 3 == 0;
        for (std::int64_t k = a.row_ptr[static_cast<std::size_t>(i)];
             k < a.row_ptr[static_cast<std::size_t>(i) + 1]; ++k) {
            thirds.push_back(std::to_string(i + 1) + "/3");
            pairs.insert(pairs.end(), {i % 3 == 0 ? -1.0 : 1.0, i % 3 == 0 ? -1.0 : 1.0});
        }
    }
    for (const std::string &x : thirds) texts.push_back(x.c_str());
    mpz_class factorial, power;
    mpz_fac_ui(factorial.get_mpz_t(), 20);
    mpz_ui_pow_ui(power.get_mpz_t(), 3, 20);
    perm::Result fraction =
        perm::compute(with_values(a, PERM_VALUE_TEXT, texts.data()), by("sieve", "exact"));
    CHECK(exact_number(fraction.text()) == truth * Exact(factorial) / Exact(power));
    perm::Result complex = perm::compute(with_values(a, PERM_VALUE_C128, pairs.data()), by("sieve", "exact"));
    CHECK(exact_number(complex.text()) == truth * -1024 * (minus % 2 == 0 ? 1 : -1)); // (1 + i)^20
    perm::Result in_doubles = perm::compute(with_values(a, PERM_VALUE_C128, pairs.data()), by("sieve"));
    CHECK(in_doubles->re == exact_number(complex.text()).get_d());
    perm::Result residue = perm::compute(a, by("sieve", "mod:1000003"));
    mpz_class rest;
    mpz_fdiv_r_ui(rest.get_mpz_t(), truth.get_num_mpz_t(), 1000003);
    CHECK(exact_number(residue.text()) == Exact(rest));
}

TEST_CASE("sieve: a matrix and its transpose, the frontier and the tree agree") {
    Random random(run::seed(0x73696544));
    for (const std::int64_t degree : {3, 4, 5, 6, 7}) {
        perm::Csr a = nearly_regular(30, degree, random);
        if (degree % 2 == 0)
            for (double &x : a.values) x = random.chance(0.2) ? -x : x;
        CAPTURE(describe(a));
        const std::string permanent = text_by(a, "sieve");
        CHECK(text_by(transpose(a), "sieve") == permanent);
        CHECK(text_by(a, "frontier") == permanent);
    }
    const perm::Csr a = nearly_regular(26, 9, random);
    CHECK(text_by(a, "tree") == text_by(a, "sieve"));
}

TEST_CASE("sieve: long rows, one line, and what it does not take") {
    Random random(run::seed(0x73696545));
    Dense arrow(64, std::vector<double>(64)); // a row of 64, two in others
    for (std::size_t i = 0; i < 64; ++i) arrow[0][i] = arrow[i][i] = arrow[i][(i + 1) % 64] = 1;
    perm_opts whole = by("sieve", "exact");
    whole.without = "all";
    perm::Result r = perm::compute(from_dense(arrow), whole);
    CHECK(r.text() == text_by(from_dense(arrow), "frontier"));
    CHECK(text_by(from_dense({{7}}), "sieve") == "7");
    CHECK(text_by(from_dense({{0}}), "sieve") == "0");
    CHECK_THROWS_AS(text_by(erdos_renyi(20, 0.5, Entries::real, 5), "sieve"), perm::Error);
    CHECK_THROWS_AS(
        text_by(build(130, 130, [](auto i, auto j) { return (j - i + 130) % 130 < 5 ? 1.0 : 0.0; }), "sieve"),
        perm::Error);
}

TEST_CASE("sieve: the planner takes it, within memory limits, and answers integers exactly") {
    Random random(run::seed(0x73696546));
    const perm::Csr a = nearly_regular(40, 7, random);
    const std::vector<std::int64_t> ones(a.values.size(), 1);
    const perm_csr integers = with_values(a, PERM_VALUE_I64, ones.data());
    perm_opts opts = PERM_OPTS_INIT;
    opts.memory_limit_bytes = 100 << 20;
    perm::Result r = perm::compute(integers, opts);
    CHECK(std::string(r->engine) == "sieve");
    CHECK(r->exact == 1);
    CHECK(r->states > 0);
    CHECK(r.text() == text_by(a, "sieve"));
    opts.engine = "sieve";
    opts.memory_limit_bytes = 1 << 16;
    CHECK_THROWS_AS(perm::compute(integers, opts), perm::Error);
}

TEST_CASE("sieve: plans are explained, saved, shared out, and executed with other numbers") {
    Random random(run::seed(0x73696547));
    const perm::Csr a = nearly_regular(36, 7, random);
    const perm_opts opts = by("auto", "exact");
    const perm::Plan plan(a, opts);
    CHECK(plan.explain().find("engine sieve: of 2^") != std::string::npos);
    perm::Result whole = plan.execute(a.values.data());
    CHECK(std::string(whole->engine) == "sieve");
    const std::string bytes = plan.save();
    const perm::Plan loaded = perm::Plan::load(bytes, opts);
    CHECK(loaded.save() == bytes);
    CHECK(loaded.explain() == plan.explain());
    CHECK(std::string(loaded.execute(a.values.data()).text()) == whole.text());
    const perm::Task task = perm::Task::plan(loaded, a.values.data());
    CHECK(task.shards() > 1);
    std::vector<std::string> parts;
    for (std::int64_t k = 0; k < task.shards(); ++k) parts.push_back(task.run_shard(k));
    CHECK(std::string(task.combine(parts).front().text()) == whole.text());
    // The same signs after other factors, other signs, and numbers of another kind.
    std::vector<double> tripled = a.values, signs = a.values, others = a.values;
    for (double &x : tripled) x = 3;
    signs[5] = -1;
    for (double &x : others) x = random_entry(Entries::integers, random);
    mpz_class power;
    mpz_ui_pow_ui(power.get_mpz_t(), 3, 36);
    CHECK(exact_number(loaded.execute(tripled.data()).text()) == exact_number(whole.text()) * Exact(power));
    for (const std::vector<double> &values : {signs, others}) {
        perm::Csr other = a;
        other.values = values;
        CHECK(std::string(loaded.execute(values.data()).text()) == text_by(other, "auto"));
    }
    // A plan that was made without values.
    perm_csr pattern = a.view();
    pattern.values = nullptr;
    const perm::Plan open(pattern, opts);
    CHECK(std::string(open.execute(a.values.data()).text()) == whole.text());
}

TEST_CASE("sieve: forged walks are refused") {
    Random random(run::seed(0x73696548));
    const perm::Csr a = regular(24, 5, random);
    libperm::BlockLines lines{pattern_of(a), {}, {}};
    lines.structure.integers.assign(a.values.size(), 1);
    check_lines(lines);
    libperm::BlockLines other = lines;
    other.structure.integers[7] = libperm::no_integer;
    check_lines(other);
    lines.structure.integers.pop_back();
    CHECK_THROWS_AS(check_lines(lines), libperm::DamagedField);
    lines.structure.integers.push_back(1);

    const libperm::Pattern at = libperm::transpose(lines.pattern).pattern;
    const libperm::Numbers numbers;
    const libperm::Options options;
    const libperm::PlanSource source{lines.pattern, at, lines.kinds, lines.structure, numbers, options};
    libperm::SievePlan plan;
    plan.integers = lines.structure.integers;
    for (std::int32_t j = 0; j < 24; ++j) plan.way.order.push_back(j);
    plan.way.steps.assign(12, 2);
    const auto restored = [&](const libperm::SievePlan &of) {
        return restored_sieve(saved_sieve(of, true), source);
    };
    restored(plan);
    const libperm::PlanSource beside{lines.pattern, at, lines.kinds, other.structure, numbers, options};
    const auto beside_others = restored_sieve(saved_sieve(plan, true), beside);
    CHECK(dynamic_cast<const libperm::SievePlan &>(*beside_others).others.size() == 1);
    std::fill_n(other.structure.integers.begin(), 50, libperm::no_integer);
    CHECK_THROWS_AS(restored_sieve(saved_sieve(plan, true), beside), libperm::DamagedField);
    const auto is_refused = [&](const auto &forge) {
        libperm::SievePlan forged = plan;
        forge(forged);
        CHECK_THROWS_AS(restored(forged), libperm::DamagedField);
    };
    is_refused([](auto &p) { p.way.order[3] = 4; });
    is_refused([](auto &p) { p.way.order[3] = 24; });
    is_refused([](auto &p) { p.way.order.pop_back(); });
    is_refused([](auto &p) { p.way.steps.pop_back(); });
    is_refused([](auto &p) { p.way.steps.push_back(0); });
    is_refused([](auto &p) { p.way.steps.assign(3, 8); });
    is_refused([](auto &p) { p.pieces_asked = 0; });
    is_refused([](auto &p) { p.pieces_asked = std::uint64_t{1} << 40; });
    is_refused([](auto &p) { p.spread = -1; });
    const std::string bytes = saved_sieve(plan, true);
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK_THROWS_AS(restored_sieve(std::string_view(bytes).substr(0, size), source),
                        libperm::DamagedField);
}
