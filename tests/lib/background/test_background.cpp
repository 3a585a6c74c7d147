// Engine background where lines are of several classes: blocks u_i C_ab v_j but for few entries, and such as
// are none, against exact sums over subsets and counts.
#include "lib/background/counted_matchings.hpp"
#include "lib/base/archive.hpp"
#include "lib/saved/plan.hpp"
#include "tests/support/check.hpp"
#include "tests/support/plan_in_memory.hpp"
#include "tests/support/run.hpp"
#include "tests/support/structured.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace perm::families;
using namespace structured;
using oracle::Exact;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Of each line its class; each class has one line at least.
std::vector<std::size_t> classes(std::int64_t n, std::int64_t count, Random &random) {
    std::vector<std::size_t> of_line;
    for (std::int64_t k = 0; k < n; ++k) of_line.push_back(at(k < count ? k : random.integer(0, count - 1)));
    return of_line;
}

struct Shape {
    std::int64_t n, p, q, others; // others: entries that are something else
    double zeros = 0.1;           // of C
};

Dense in_blocks(const Shape &shape, Random &random) {
    const auto [n, p, q, others, zeros] = shape;
    const bool is_whole = random.chance(0.6), is_plain = random.chance(0.3);
    const std::vector<std::size_t> row_class = classes(n, p, random), col_class = classes(n, q, random);
    const std::vector<double> u = factors(n, random, is_whole), v = factors(n, random, is_whole);
    Dense c(at(p)), dense(at(n), std::vector<double>(at(n)));
    for (auto &row : c)
        for (std::int64_t b = 0; b < q; ++b)
            row.push_back(random.chance(zeros) ? 0 : factor(random, is_whole));
    for (std::size_t i = 0; i < dense.size(); ++i)
        for (std::size_t j = 0; j < dense.size(); ++j)
            dense[i][j] = c[row_class[i]][col_class[j]] * (is_plain ? 1 : u[i] * v[j]);
    const auto some = [&, most = n - 1] { return at(random.integer(0, most)); };
    for (std::int64_t k = 0; k < others; ++k)
        dense[some()][some()] = random.chance(0.4) ? 0 : factor(random, is_whole);
    return shuffled(dense, random);
}

Dense transposed(const Dense &a) {
    Dense out = a;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j) out[j][i] = a[i][j];
    return out;
}

// With duplicates of lines, or lines of zeros, or of anything.
void change_lines(Dense &a, Random &random) {
    const auto some = [&] { return at(random.integer(0, std::ssize(a) - 1)); };
    const std::int64_t kind = random.integer(0, 9);
    const std::size_t line = some();
    if (kind == 0) a[line] = a[some()];
    if (kind == 1)
        for (double &x : a[line]) x = random.chance(0.5) ? 0 : factor(random, true);
    if (kind == 2)
        for (auto &row : a) row[line] = factor(random, true);
    if (kind == 3 && random.chance(0.3)) std::ranges::fill(a[line], 0);
}

// A fraction has a text of its own.
void check_answer(perm::Result r, const Exact &truth) {
    if (r->exact)
        CHECK(number(r.text()) == truth);
    else
        check_result(*r.raw(), truth);
}

const libperm::Background &background_of(const libperm::Plan &plan) {
    REQUIRE(plan.main_block());
    return plan.block_plans[plan.costliest].lines.structure.background;
}

} // namespace

TEST_CASE("blocks with entries beside them, and without") {
    Random random(run::seed(0x626c6f63));
    int taken = 0, several = 0;
    for (int k = 0; k < run::cases(160); ++k) {
        Dense dense = in_blocks(
            {random.integer(12, 13), random.integer(1, 4), random.integer(1, 4), random.integer(0, 10)},
            random);
        change_lines(dense, random);
        if (random.chance(0.3)) dense = transposed(dense);
        const perm::Csr a = from_dense(dense);
        CAPTURE(describe(a));
        const Exact truth = oracle::by_ryser(a);
        check_answer(perm::compute(a), truth);
        if (auto r = asked_for("background", a, "exact")) {
            CHECK(number(r->text()) == truth);
            ++taken;
            perm_opts opts = with("background", "exact");
            opts.without = "matching,dm,d1,d2,fm,merge";
            const libperm::Plan plan = plan_in_memory(a, opts);
            if (plan.main_block()) several += std::ssize(background_of(plan).base_rows) > 1;
        }
        if (auto r = asked_for("background", a, "double")) check_answer(*std::move(r), truth);
        if (auto r = asked_for("background", a, "dd")) check_answer(*std::move(r), truth);
    }
    CHECK(taken > run::enough(80));
    CHECK(several > run::enough(40));
}

TEST_CASE("blocks that miss it by an entry") {
    Random random(run::seed(0x6d697373));
    int taken = 0;
    for (int k = 0; k < run::cases(40); ++k) {
        Dense dense = in_blocks({12, 2, random.integer(2, 3), random.integer(0, 3), 0}, random);
        const auto some = [&] { return at(random.integer(0, 11)); };
        const std::size_t i = some(), j = some();
        for (const double x : {dense[i][j] + 1, -dense[i][j], 0.0}) {
            dense[i][j] = x;
            const perm::Csr a = from_dense(dense);
            CAPTURE(describe(a));
            if (auto r = asked_for("background", a, "exact")) {
                CHECK(number(r->text()) == oracle::by_ryser(a));
                ++taken;
            }
        }
    }
    CHECK(taken > run::enough(60));
}

TEST_CASE("complex blocks") {
    Random random(run::seed(0x626c6363));
    check_complex_backgrounds([&random] { return from_dense(in_blocks({12, 2, 2, 4, 0}, random)); });
}

// Entries beside the blocks stand in few columns, so that other engines can count the others.
TEST_CASE("larger blocks, by the engine that auto takes, against counts of equal lines") {
    Random random(run::seed(0x6c617267));
    int taken = 0;
    for (int k = 0; k < run::cases(6); ++k) {
        const std::int64_t n = random.integer(40, 50), p = 2 + k % 2, q = 2;
        Dense c{{1, 2}, {3, -1}, {2, 5}}, dense(at(n), std::vector<double>(at(n)));
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j) dense[at(i)][at(j)] = c[at(i * p / n)][at(j * q / n)];
        for (int other = 0; other < 30; ++other)
            dense[at(random.integer(0, n - 1))][at(random.integer(0, 4) * n / 5)] = factor(random, true);
        dense = shuffled(dense, random);
        if (random.chance(0.5)) dense = transposed(dense);
        const perm::Csr a = from_dense(dense);
        CAPTURE(n);
        perm::Result r = perm::compute(a, with("auto", "exact"));
        CHECK(std::string(r->engine) == "background");
        CHECK(std::string(r.text()) == perm::compute(a, with("ryser", "exact")).text());
        ++taken;
    }
    CHECK(taken > 0);
}

// 2 where a line stays in its group, 0 on the diagonal: by inclusion and exclusion over the diagonal, and by
// how many leave the groups.
TEST_CASE("two groups in which none stays, against a sum of binomials") {
    const auto choices = [](std::int64_t n, std::int64_t k) {
        mpz_class c;
        mpz_bin_uiui(c.get_mpz_t(), static_cast<unsigned long>(n), static_cast<unsigned long>(k));
        return c;
    };
    const auto factorial = [](std::int64_t n) {
        mpz_class f;
        mpz_fac_ui(f.get_mpz_t(), static_cast<unsigned long>(n));
        return f;
    };
    const auto rest = [&](std::int64_t r, std::int64_t s) {
        mpz_class sum = 0;
        for (std::int64_t t = 0; t <= std::min(r, s); ++t) {
            const mpz_class leave = choices(r, t) * choices(s, t) * factorial(t);
            sum += leave * leave * factorial(r - t) * factorial(s - t)
                   << static_cast<unsigned>(r + s - 2 * t);
        }
        return sum;
    };
    mpz_class sum = 0;
    for (std::int64_t a = 0; a <= 40; ++a)
        for (std::int64_t b = 0; b <= 20; ++b) {
            const mpz_class term = choices(40, a) * choices(20, b) * rest(40 - a, 20 - b)
                                   << static_cast<unsigned>(a + b);
            sum += (a + b) % 2 ? mpz_class(-term) : term;
        }
    const perm::Csr a = build(60, 60, [](std::int64_t i, std::int64_t j) {
        return i == j ? 0.0 : (i < 40) == (j < 40) ? 2.0 : 1.0;
    });
    for (const char *engine : {"background", "separable"}) {
        const perm::Result r = perm::compute(a, with(engine, "exact"));
        CHECK(std::string(r->engine) == engine);
        CHECK(number(r.text()) == Exact(sum));
    }
}

// A row with much beside it may be taken for a class of its own: the answer is right all the same, and later.
// Of the memory that one thread takes, two have enough as well: they take turns.
TEST_CASE("less memory than each thread would take") {
    Random random(run::seed(0x6d656d6f));
    constexpr std::int64_t n = 40;
    Dense dense(at(n), std::vector<double>(at(n), 1));
    for (std::int64_t i = 0; i < 18; ++i)
        for (std::int64_t j = 0; j < 18; ++j)
            if (random.chance(0.3)) dense[at(i)][at(j)] = static_cast<double>(random.integer(2, 9));
    const perm::Csr a = from_dense(dense);
    const std::string right = perm::compute(a, with("background", "exact")).text();
    const auto text_with = [&](std::int64_t bytes, int threads) -> std::string {
        perm_opts opts = with("background", "exact");
        opts.memory_limit_bytes = bytes;
        opts.threads = threads;
        perm::Result r;
        const perm_csr view = a.view();
        const perm_status status = perm_compute(&view, &opts, r.raw());
        CHECK((status == PERM_OK || status == PERM_REFUSED_MEMORY));
        return r.text();
    };
    std::int64_t bytes = 1 << 20;
    while (text_with(bytes, 1).empty()) bytes += bytes / 8;
    REQUIRE(bytes > 1 << 20);
    for (const int threads : {1, 2, 3}) CHECK(text_with(bytes, threads) == right);
}

TEST_CASE("classes are found as they were made, nearly always") {
    Random random(run::seed(0x666f756e));
    int found = 0;
    for (int k = 0; k < run::cases(20); ++k) {
        const std::int64_t n = 40, others = random.integer(5, 40);
        const Dense c = k % 2 ? Dense{{1, 1}, {1, 2}} : Dense{{1, 2, 0}, {3, 1, 1}, {2, 5, 7}};
        const std::int64_t count = std::ssize(c);
        Dense dense(at(n), std::vector<double>(at(n)));
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j)
                dense[at(i)][at(j)] =
                    c[at(i * count / n)][at(j * count / n)] * static_cast<double>((i % 3 + 1) * (j % 5 + 1));
        std::vector<char> is_other(at(n * n));
        for (std::int64_t other = 0; other < others; ++other) {
            const std::int64_t i = random.integer(0, n - 1), j = random.integer(0, n - 1);
            dense[at(i)][at(j)] = 1000;
            is_other[at(i * n + j)] = 1;
        }
        perm_opts opts = with("background", "exact");
        opts.without = "merge";
        const libperm::Plan plan = plan_in_memory(from_dense(shuffled(dense, random)), opts);
        const libperm::Background &b = background_of(plan);
        found += std::ssize(b.base_rows) == count && std::ssize(b.base_cols) == count &&
                 b.beside.nnz() == std::count(is_other.begin(), is_other.end(), 1);
    }
    CHECK(found > run::enough(16));
}

namespace {

using libperm::ClassCounts;
using Terms =
    std::function<void(std::size_t, const std::vector<std::size_t> &, const std::vector<std::size_t> &)>;

// All counts of lines that matchings may take, with the classes of the lines that are left.
void each_count(const ClassCounts &counts, const Terms &of) {
    std::vector<ClassCounts::Class> all = counts.rows;
    all.insert(all.end(), counts.cols.begin(), counts.cols.end());
    std::vector<std::int32_t> taken(all.size());
    for (bool is_more = true; is_more;) {
        std::vector<std::size_t> left[2];
        std::size_t number = 0;
        std::vector<std::int32_t> balance(all.size());
        for (std::size_t c = 0; c < all.size(); ++c) {
            const std::size_t is_col = c >= counts.rows.size();
            left[is_col].insert(left[is_col].end(), at(all[c].lines - taken[c]),
                                is_col ? c - counts.rows.size() : c);
            number += at(taken[c]) * all[c].stride;
            balance[all[c].component] += is_col ? taken[c] : -taken[c];
        }
        if (std::ranges::count(balance, 0) == std::ssize(balance)) of(number, left[0], left[1]);
        is_more = false;
        for (std::size_t c = 0; c < all.size() && !is_more; ++c) {
            is_more = taken[c] < all[c].most;
            taken[c] = is_more ? taken[c] + 1 : 0;
        }
    }
}

} // namespace

TEST_CASE("rests of blocks, against the definition") {
    Random random(run::seed(0x72657374));
    const std::uint64_t prime = (std::uint64_t{1} << 61) - 1;
    const libperm::Montgomery field(prime);
    for (int k = 0; k < run::cases(30); ++k) {
        const std::int64_t n = random.integer(4, 6), p = random.integer(1, 4), q = random.integer(1, 4);
        const std::vector<std::size_t> row_class = classes(n, p, random), col_class = classes(n, q, random);
        libperm::Background b;
        b.beside.rows = b.beside.cols = static_cast<std::int32_t>(n);
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int32_t j = 0; j < n; ++j)
                if (random.chance(0.3) && (k % 2 == 0 || row_class[at(i)] == col_class[at(j)]))
                    b.beside.col.push_back(j);
            b.beside.row_ptr.push_back(std::ssize(b.beside.col));
        }
        b.base_rows.resize(at(p));
        b.base_cols.resize(at(q));
        b.row_class.assign(row_class.begin(), row_class.end());
        b.col_class.assign(col_class.begin(), col_class.end());
        const ClassCounts counts = libperm::class_counts(b);
        std::vector<std::uint64_t> weights, c, residues;
        for (std::size_t w = 0; w < counts.numbers; ++w) weights.push_back(random.bits() % prime);
        for (std::int64_t x = 0; x < p * q; ++x) {
            c.push_back(at(random.integer(0, 5)));
            residues.push_back(field.to(c.back()));
        }
        Exact truth = 0;
        each_count(counts, [&](std::size_t number, const std::vector<std::size_t> &rows,
                               const std::vector<std::size_t> &cols) {
            const Exact rest =
                rows.empty() ? Exact(1)
                             : oracle::by_definition(build(
                                   std::ssize(rows), std::ssize(rows), [&](std::int64_t i, std::int64_t j) {
                                       return static_cast<double>(c[rows[at(i)] * at(q) + cols[at(j)]]);
                                   }));
            truth += rest * Exact(mpz_class(std::to_string(weights[number])));
        });
        const std::uint64_t sum = field.from(
            libperm::Rests(field, counts, residues).sum([&](std::size_t w) { return weights[w]; }));
        CHECK(Exact(mpz_class(std::to_string(sum))) ==
              Exact(mpz_class(truth.get_num() % mpz_class(std::to_string(prime)))));
    }
}

TEST_CASE("plans of blocks: saved, shared out, forged") {
    const auto entry = [](std::int64_t i, std::int64_t j) -> double {
        const bool is_low = i < 11, is_left = j < 14;
        return i == j || j == (i + 3) % 24 ? static_cast<double>(i + 2) : is_low == is_left ? 1.0 : 3.0;
    };
    const perm::Csr a = build(24, 24, entry);
    const perm_opts opts = with("background", "exact");
    const perm::Plan plan(a, opts);
    perm::Result whole = plan.execute(a.values.data());
    CHECK(std::string(whole->engine) == "background");
    CHECK(std::string(whole.text()) == perm::compute(a, with("tree", "exact")).text());
    const perm::Plan loaded = perm::Plan::load(plan.save(), opts);
    CHECK(std::string(loaded.execute(a.values.data()).text()) == whole.text());
    const perm::Task task = perm::Task::plan(loaded, a.values.data());
    std::vector<std::string> parts;
    for (std::int64_t k = 0; k < task.shards(); ++k) parts.push_back(task.run_shard(k));
    CHECK(std::string(task.combine(parts).front().text()) == whole.text());

    const libperm::Plan inside = plan_in_memory(a, opts);
    const libperm::BlockLines &lines = inside.block_plans[inside.costliest].lines;
    CHECK(std::ssize(lines.structure.background.base_rows) == 2);
    CHECK_NOTHROW(libperm::check_lines(lines));
    const auto is_refused = [&lines](const auto &change) {
        libperm::BlockLines forged = lines;
        change(forged.structure.background);
        CHECK_THROWS_AS(libperm::check_lines(forged), libperm::DamagedField);
    };
    using Forged = libperm::Background;
    is_refused([](Forged &b) { b.row_class[3] = 2; });
    is_refused([](Forged &b) { b.col_class[3] = -1; });
    is_refused([](Forged &b) { b.row_class.pop_back(); });
    is_refused([](Forged &b) { b.base_rows.clear(); });
    is_refused([](Forged &b) { b.base_cols[0] = 24; });
    is_refused([](Forged &b) { b.base_cols.assign(5, 0); });
    is_refused([](Forged &b) { std::swap(b.base_rows[0], b.base_rows[1]); });
    is_refused([](Forged &b) { b.col_of_row[5] = 24; });
    is_refused([](Forged &b) { b.row_of_col[5] = -2; });
    is_refused([](Forged &b) { b.beside = {}; });
}
