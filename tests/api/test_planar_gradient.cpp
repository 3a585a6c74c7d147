// Derivatives and marginals of planar matrices, by an inverse at the entries: against exact minors, against
// the frontier's tape, and what they add up to.
#include "bench/families.hpp"
#include "tests/support/check.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace perm::families;
using oracle::Exact;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Entries that are 0 stay.
struct Matrix {
    perm::Csr pattern;
    std::vector<Exact> values;
    std::vector<double> doubles;
    std::vector<std::int64_t> integers;
    std::vector<std::string> texts;
    std::vector<const char *> pointers;

    std::int64_t n() const { return pattern.n_rows; }
    void add(std::int64_t column, const Exact &value) {
        pattern.col_idx.push_back(column);
        values.push_back(value);
    }
    void end_row() {
        pattern.row_ptr.push_back(std::ssize(pattern.col_idx));
        pattern.n_cols = ++pattern.n_rows;
    }
    perm_csr view(perm_value_type type) {
        for (const Exact &x : values) {
            doubles.push_back(x.get_d());
            integers.push_back(x.get_num().get_si());
            texts.push_back(x.get_str());
        }
        for (const std::string &text : texts) pointers.push_back(text.c_str());
        perm_csr a = pattern.view();
        a.value_type = type;
        a.values = doubles.data();
        if (type == PERM_VALUE_I64) a.values = integers.data();
        if (type == PERM_VALUE_TEXT) a.values = pointers.data();
        return a;
    }
    // Without a row and a column, if there are such, in exact numbers over a common denominator.
    Exact permanent(std::int64_t without_row = -1, std::int64_t without_col = -1) const {
        std::vector<std::vector<Exact>> a;
        for (std::int64_t i = 0; i < n(); ++i) {
            if (i == without_row) continue;
            a.emplace_back(at(n()), 0);
            for (auto k = at(pattern.row_ptr[at(i)]); k < at(pattern.row_ptr[at(i) + 1]); ++k)
                a.back()[at(pattern.col_idx[k])] = values[k];
            if (without_col >= 0) a.back().erase(a.back().begin() + without_col);
        }
        std::vector<Exact> ways(std::size_t{1} << a.size(), 0); // to each set of columns
        ways[0] = 1;
        for (std::size_t set = 0; set < ways.size(); ++set) {
            const auto row = static_cast<std::size_t>(std::popcount(set));
            for (std::size_t j = 0; ways[set] != 0 && j < a.size(); ++j)
                if ((set >> j & 1) == 0 && a[row][j] != 0)
                    ways[set | std::size_t{1} << j] += ways[set] * a[row][j];
        }
        return ways.back();
    }
};

struct Kind {
    const char *name;
    perm_value_type type;
    bool is_nonnegative;
    std::function<Exact(Random &)> draw;
};

Exact far_apart(Random &r) {
    return Exact((1 - r.uniform()) * std::exp2(static_cast<double>(r.integer(-80, 80))));
}
Exact whole(Random &r, std::int64_t low, std::int64_t high) {
    return Exact(static_cast<long>(r.integer(low, high)));
}

const Kind kinds[]{
    {"ones", PERM_VALUE_F64, true, [](Random &) { return Exact(1); }},
    {"positive", PERM_VALUE_F64, true, [](Random &r) { return Exact(1 - r.uniform()); }},
    {"far apart", PERM_VALUE_F64, true, far_apart},
    {"of both signs", PERM_VALUE_F64, false, [](Random &r) { return Exact(r.uniform(-1, 1)); }},
    {"far apart, of both signs", PERM_VALUE_F64, false,
     [](Random &r) { return Exact(far_apart(r) * (r.chance(0.5) ? 1 : -1)); }},
    {"whole", PERM_VALUE_I64, false, [](Random &r) { return whole(r, -3, 3); }},
    {"counts", PERM_VALUE_I64, true, [](Random &r) { return whole(r, 0, 9); }},
    {"cancelling", PERM_VALUE_F64, false, [](Random &r) { return Exact(r.chance(0.5) ? 1 : -1); }},
    {"fractions", PERM_VALUE_TEXT, false,
     [](Random &r) {
         Exact q(static_cast<long>(r.integer(-9, 9)), static_cast<unsigned long>(r.integer(1, 9)));
         q.canonicalize();
         return q;
     }},
};

// Of a few entries more than lines, most often planar.
Matrix random_matrix(const Kind &kind, Random &random) {
    const std::int64_t n = random.integer(1, 8);
    const std::vector<std::int64_t> matched = random.permutation(n);
    const double share = random.uniform(0, 0.3), zeros = random.chance(0.5) ? 0.2 : 0;
    Matrix a;
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j)
            if (matched[at(i)] == j || random.chance(share))
                a.add(j, random.chance(zeros) ? Exact(0) : kind.draw(random));
        a.end_row();
    }
    return a;
}

// The squares of one colour by those of the other.
Matrix random_board(const Kind &kind, Random &random) {
    const perm::Csr board = grid(4, random.integer(2, 4));
    Matrix a;
    for (std::int64_t i = 0; i < board.n_rows; ++i) {
        for (auto k = board.row_ptr[at(i)]; k < board.row_ptr[at(i) + 1]; ++k)
            if (random.chance(0.95)) a.add(board.col_idx[at(k)], kind.draw(random));
        a.end_row();
    }
    return a;
}

struct Found {
    std::vector<double> numbers, bounds;
    perm::Result result;
    perm_status status = PERM_OK;
    std::string engine() const { return result->engine; }
};

Found gradient_of(const perm_csr &a, const perm_opts &opts) {
    Found found;
    found.numbers.assign(at(a.nnz) + 1, -7);
    found.bounds.assign(at(a.nnz) + 1, -7);
    perm_plan *plan = nullptr;
    REQUIRE(perm_plan_create(&a, &opts, &plan) == PERM_OK);
    found.status =
        perm_plan_gradient(plan, a.values, found.numbers.data(), found.bounds.data(), found.result.raw());
    perm_plan_destroy(plan);
    return found;
}

Found marginals_of(const perm_csr &a, const perm_opts &opts) {
    Found found;
    const std::size_t count = at(a.nnz + a.n_rows + a.n_cols);
    found.numbers.assign(count + 1, -7);
    found.bounds.assign(count + 1, -7);
    perm_plan *plan = nullptr;
    REQUIRE(perm_plan_create(&a, &opts, &plan) == PERM_OK);
    found.status =
        perm_plan_marginals(plan, a.values, found.numbers.data(), found.bounds.data(), found.result.raw());
    perm_plan_destroy(plan);
    return found;
}

perm_opts planar() {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = "planar";
    return opts;
}

// Two ways to the same numbers.
void check_alike(const Found &x, const Found &y) {
    REQUIRE(x.numbers.size() == y.numbers.size());
    for (std::size_t k = 0; k + 1 < x.numbers.size(); ++k) {
        CAPTURE(k);
        CHECK(std::fabs(x.numbers[k] - y.numbers[k]) <= (x.bounds[k] + y.bounds[k]) * 1.0001);
    }
}

// How many of a matrix's derivatives were compared.
int check_derivatives(const Matrix &a, const Found &found, bool is_nonnegative) {
    int compared = 0;
    const Exact whole = abs(a.permanent());
    for (std::int64_t i = 0; i < a.n(); ++i) {
        Exact largest = 0; // of the row
        for (auto k = at(a.pattern.row_ptr[at(i)]); k < at(a.pattern.row_ptr[at(i) + 1]); ++k)
            largest = std::max<Exact>(largest, abs(a.values[k]));
        for (auto k = at(a.pattern.row_ptr[at(i)]); k < at(a.pattern.row_ptr[at(i) + 1]); ++k) {
            CAPTURE(k);
            const Exact truth = a.permanent(i, a.pattern.col_idx[k]);
            const double number = found.numbers[k], bound = found.bounds[k];
            CHECK_MESSAGE(abs(Exact(number) - truth) <= Exact(bound),
                          number << " +- " << bound << " true " << truth.get_d());
            if (found.engine() != "planar") continue;
            const bool is_told = bound <= std::fabs(truth.get_d()) * 1e-15;
            const bool is_small = Exact(bound) * largest <= whole * Exact(0x1p-78);
            CHECK((is_told || (!is_nonnegative && is_small)));
            if (is_nonnegative && truth == 0) CHECK((number == 0 && bound == 0));
            ++compared;
        }
    }
    return compared;
}

} // namespace

TEST_CASE("each derivative is its minor's permanent, within its bound") {
    Random random(run::seed(0x706731));
    int compared = 0, singular = 0;
    for (const Kind &kind : kinds)
        for (int c = 0; c < run::cases(300); ++c) {
            Matrix a = c % 4 == 0 ? random_board(kind, random) : random_matrix(kind, random);
            CAPTURE(std::string(kind.name));
            CAPTURE(c);
            const perm_csr view = a.view(kind.type);
            Found found = gradient_of(view, planar());
            REQUIRE(found.status == PERM_OK);
            const Exact truth = a.permanent();
            check_result(*found.result.raw(), truth);
            CHECK(found.numbers.back() == -7);
            singular += truth == 0 ? 1 : 0;
            compared += check_derivatives(a, found, kind.is_nonnegative);
            if (kind.type == PERM_VALUE_I64 && found.engine() == "planar")
                for (std::int64_t k = 0; k < view.nnz; ++k) CHECK(found.bounds[at(k)] == 0);
        }
    CHECK(compared > run::enough(9000));
    CHECK(singular > run::enough(200));
}

TEST_CASE("each marginal is its entry's share, and those of a line are 1") {
    Random random(run::seed(0x706732));
    int compared = 0, impossible = 0;
    const std::vector<std::int64_t> ones(16, 1);
    for (const Kind &kind : kinds)
        for (int c = 0; kind.is_nonnegative && c < run::cases(300); ++c) {
            Matrix a = c % 4 == 0 ? random_board(kind, random) : random_matrix(kind, random);
            CAPTURE(std::string(kind.name));
            CAPTURE(c);
            perm_csr view = a.view(kind.type);
            view.row_multiplicity = view.col_multiplicity = ones.data(); // which are not for sets of lines
            const Found found = marginals_of(view, planar());
            const Exact truth = a.permanent();
            CAPTURE(std::string(perm_last_error()));
            CAPTURE(truth.get_d());
            REQUIRE(found.status == (truth == 0 ? PERM_BAD_MATRIX : PERM_OK));
            impossible += truth == 0 ? 1 : 0;
            for (std::int64_t i = 0; truth != 0 && i < a.n(); ++i)
                for (auto k = at(a.pattern.row_ptr[at(i)]); k < at(a.pattern.row_ptr[at(i) + 1]); ++k) {
                    const Exact share = a.values[k] * a.permanent(i, a.pattern.col_idx[k]) / truth;
                    CHECK(abs(Exact(found.numbers[k]) - share) <= Exact(found.bounds[k]));
                    if (found.engine() != "planar") continue;
                    CHECK(found.bounds[k] <= 2.3e-16 * found.numbers[k]);
                    ++compared;
                }
        }
    CHECK(compared > run::enough(5000));
    CHECK(impossible > run::enough(20));
}

TEST_CASE("what it does not serve goes along the frontier") {
    perm_opts tape = PERM_OPTS_INIT;
    tape.engine = "frontier";
    const auto check = [&](const perm_csr &a) {
        const Found found = gradient_of(a, planar()), along = gradient_of(a, tape);
        REQUIRE(found.status == PERM_OK);
        CHECK(found.engine() == "frontier");
        CHECK(found.numbers == along.numbers);
        CHECK(found.bounds == along.bounds);
    };
    perm::Csr rectangle = grid(4, 4);
    rectangle.row_ptr.pop_back();
    --rectangle.n_rows;
    rectangle.values.resize(at(rectangle.row_ptr.back()));
    rectangle.col_idx.resize(rectangle.values.size());
    check(rectangle.view());
    check(constant(5, 1).view()); // not planar
    const perm::Csr plain = grid(4, 4);
    const std::vector<double> weights(at(plain.n_rows), 0.5);
    std::vector<double> values = plain.values;
    perm_csr a = plain.view();
    values.insert(values.end(), weights.begin(), weights.end());
    values.insert(values.end(), weights.begin(), weights.end());
    perm_opts opts = planar();
    a.row_unmatched = a.col_unmatched = weights.data();
    perm_plan *plan = nullptr;
    REQUIRE(perm_plan_create(&a, &opts, &plan) == PERM_OK);
    std::vector<double> found(values.size());
    perm::Result r;
    CHECK(perm_plan_gradient(plan, values.data(), found.data(), nullptr, r.raw()) == PERM_OK);
    CHECK(std::string(r->engine) == "frontier");
    perm_plan_destroy(plan);
}

TEST_CASE("strips of a board: the same as along the tape") {
    Random random(run::seed(0x706733));
    perm_opts tape = PERM_OPTS_INIT;
    tape.engine = "frontier";
    for (const auto entries : {Entries::nonnegative, Entries::counts, Entries::real, Entries::integers})
        for (const std::int64_t width : {4, 8}) {
            perm::Csr a = weighted_grid(width, 60, entries, random.bits()).weights;
            for (std::size_t k = 0; k < a.values.size(); k += 17) a.values[k] = 0;
            const perm_csr view = a.view();
            const Found inverse = gradient_of(view, planar()), along = gradient_of(view, tape);
            CHECK(inverse.engine() == "planar");
            CHECK(along.engine() == "frontier");
            check_alike(inverse, along);
            if (entries == Entries::nonnegative || entries == Entries::counts)
                check_alike(marginals_of(view, planar()), marginals_of(view, tape));
        }
}

TEST_CASE("a board that no tape is long enough for, by default") {
    const std::int64_t size = run::sanitized ? 20 : 60;
    const perm::Csr a = weighted_grid(size, size, Entries::nonnegative, run::seed(0x706734)).weights;
    const Found found = marginals_of(a.view(), PERM_OPTS_INIT);
    REQUIRE(found.status == PERM_OK);
    CHECK(found.engine() == "planar");
    CHECK(found.result->threads == 1);
    std::vector<Exact> columns(at(a.n_cols), 0), bounds(at(a.n_cols), 0);
    for (std::int64_t i = 0; i < a.n_rows; ++i) {
        Exact sum = 0, bound = 0;
        for (auto k = at(a.row_ptr[at(i)]); k < at(a.row_ptr[at(i) + 1]); ++k) {
            CHECK(found.bounds[k] <= 2.3e-16 * found.numbers[k]);
            sum += found.numbers[k], columns[at(a.col_idx[k])] += found.numbers[k];
            bound += found.bounds[k], bounds[at(a.col_idx[k])] += found.bounds[k];
        }
        CHECK(abs(sum - 1) <= bound);
    }
    for (std::size_t j = 0; j < columns.size(); ++j) CHECK(abs(columns[j] - 1) <= bounds[j]);
    for (std::size_t k = a.values.size(); k < found.numbers.size() - 1; ++k) CHECK(found.numbers[k] == 0);
    const perm::Plan plan(a);
    CHECK(plan.explain(PERM_FORMAT_JSON).find("\"gradient_engine\": \"planar\"") != std::string::npos);
    CHECK(plan.explain().find("derivatives: engine planar") != std::string::npos);
}

TEST_CASE("blocks: each has its own minors, and what is between them has none") {
    Random random(run::seed(0x706735));
    for (int c = 0; c < run::cases(20); ++c) {
        const perm::Csr one = weighted_grid(4, 5, Entries::real, random.bits()).weights,
                        other = weighted_grid(6, 3, Entries::real, random.bits()).weights;
        Matrix a;
        std::vector<std::size_t> between;
        for (const perm::Csr *block : {&one, &other}) {
            const std::int64_t first = block == &one ? 0 : one.n_rows;
            for (std::int64_t i = 0; i < block->n_rows; ++i) {
                if (first > 0 && random.chance(0.7)) {
                    between.push_back(a.values.size());
                    a.add(random.integer(0, first - 1), Exact(random.uniform()));
                }
                for (auto k = at(block->row_ptr[at(i)]); k < at(block->row_ptr[at(i) + 1]); ++k)
                    a.add(first + block->col_idx[k], Exact(block->values[k]));
                a.end_row();
            }
        }
        between.push_back(a.values.size());
        a.add(random.integer(0, a.n() - 1), Exact(random.uniform()));
        a.add(a.n(), Exact(3)); // a block of its own
        a.end_row();
        const perm_csr view = a.view(PERM_VALUE_F64);
        perm_opts tape = PERM_OPTS_INIT;
        tape.engine = "frontier";
        const Found found = gradient_of(view, planar());
        CHECK(found.engine() == "planar");
        check_alike(found, gradient_of(view, tape));
        for (const std::size_t k : between) CHECK((found.numbers[k] == 0 && found.bounds[k] == 0));
    }
}

TEST_CASE("scales from one end of the doubles to the other") {
    Random random(run::seed(0x706736));
    const perm::Csr plain = weighted_grid(8, 8, Entries::nonnegative, random.bits()).weights;
    perm::Csr scaled = plain;
    std::vector<int> rows(at(plain.n_rows)), cols(at(plain.n_cols));
    for (int &x : rows) x = static_cast<int>(random.integer(-500, 500));
    for (int &x : cols) x = static_cast<int>(random.integer(-500, 500));
    for (std::int64_t i = 0; i < plain.n_rows; ++i)
        for (auto k = at(plain.row_ptr[at(i)]); k < at(plain.row_ptr[at(i) + 1]); ++k)
            scaled.values[k] = std::ldexp(scaled.values[k], rows[at(i)] + cols[at(plain.col_idx[k])]);
    const Found one = marginals_of(plain.view(), planar()), other = marginals_of(scaled.view(), planar());
    REQUIRE(other.status == PERM_OK);
    CHECK(other.engine() == "planar");
    check_alike(one, other);
    const Found derivatives = gradient_of(scaled.view(), planar());
    CHECK(derivatives.engine() == "planar");
    CHECK(derivatives.status == PERM_OK);
}

TEST_CASE("where doubles lose all along a tape an inverse tells") {
    Random random(run::seed(0x706739));
    int compared = 0;
    for (int k = 0; k < run::cases(40); ++k) {
        perm::Csr a = grid(8, 8);
        for (double &x : a.values) {
            const std::int64_t kind = random.integer(0, 3);
            x = kind == 0 ? 1e300 : kind == 1 ? 1e-300 : kind == 2 ? 1 : 0;
        }
        const Found by_name = marginals_of(a.view(), planar()),
                    by_default = marginals_of(a.view(), PERM_OPTS_INIT);
        CHECK(by_default.status == by_name.status);
        if (by_name.status != PERM_OK || by_default.status != PERM_OK) continue;
        check_alike(by_name, by_default);
        ++compared;
    }
    CHECK(compared > run::enough(3));
}

TEST_CASE("near to singular: bounds hold, or the permanent is told to be 0") {
    Random random(run::seed(0x706737));
    int singular = 0, near = 0;
    for (int c = 0; c < run::cases(60); ++c) {
        Matrix a; // a chain whose last pivot cancels
        const std::int64_t n = random.integer(2, 9);
        std::vector<Exact> diagonal, beside;
        Exact pivot = 1;
        for (std::int64_t i = 0; i < n; ++i) {
            diagonal.emplace_back(static_cast<long>(random.integer(1, 9)));
            if (i > 0) {
                beside.emplace_back(static_cast<long>(random.integer(1, 9)));
                pivot = diagonal.back() + beside.back() * beside.back() / pivot;
            } else {
                pivot = diagonal.back();
            }
            if (i + 1 == n) diagonal.back() -= pivot;
        }
        diagonal.back() = Exact(diagonal.back().get_d()); // mostly not quite
        for (std::int64_t i = 0; i < n; ++i) {
            if (i > 0) a.add(i - 1, beside[at(i - 1)]);
            a.add(i, diagonal[at(i)]);
            if (i + 1 < n) a.add(i + 1, beside[at(i)]);
            a.end_row();
        }
        Found found = gradient_of(a.view(PERM_VALUE_F64), planar());
        REQUIRE(found.status == PERM_OK);
        const Exact truth = a.permanent();
        check_result(*found.result.raw(), truth);
        CHECK(found.engine() == (truth == 0 ? "frontier" : "planar"));
        (truth == 0 ? singular : near) += 1;
        check_derivatives(a, found, false);
    }
    CHECK(singular > 0);
    CHECK(near > 0);
}

TEST_CASE("batches, tasks and threads: the same bits") {
    Random random(run::seed(0x706738));
    const perm::Csr a = weighted_grid(24, 24, Entries::real, random.bits()).weights;
    perm_opts opts = PERM_OPTS_INIT;
    opts.threads = 1;
    const Found one = gradient_of(a.view(), opts);
    CHECK(one.engine() == "planar");
    opts.threads = 3;
    const Found three = gradient_of(a.view(), opts);
    CHECK(one.numbers == three.numbers);
    CHECK(one.bounds == three.bounds);
    const perm::Plan plan(a, opts);
    std::vector<double> values = a.values, numbers(2 * values.size()), bounds(numbers.size());
    values.insert(values.end(), a.values.begin(), a.values.end());
    REQUIRE(perm_plan_gradient_batch(plan.raw(), values.data(), std::ssize(a.values), 2, numbers.data(),
                                     bounds.data(), nullptr) == PERM_OK);
    const perm::Task task = perm::Task::gradient(plan, a.values.data());
    const auto combined = task.combine_numbers({task.run_shard(0)});
    CHECK(task.shards() == 1);
    for (std::size_t k = 0; k < a.values.size(); ++k) {
        REQUIRE(numbers[k] == one.numbers[k]);
        REQUIRE(numbers[k + a.values.size()] == one.numbers[k]);
        REQUIRE(bounds[k] == one.bounds[k]);
        REQUIRE(combined.numbers[k] == one.numbers[k]);
    }
}

TEST_CASE("it is cancelled, and refused what memory it has not") {
    const perm::Csr a = weighted_grid(40, 40, Entries::nonnegative, run::seed(0x706739)).weights;
    std::atomic<bool> stop{false};
    perm_opts opts = planar();
    opts.cancel = [](void *user) { return static_cast<std::atomic<bool> *>(user)->load() ? 1 : 0; };
    opts.cancel_user = &stop;
    const perm::Plan plan(a, opts);
    std::vector<double> found(a.values.size() + at(a.n_rows + a.n_cols), 7);
    const std::vector<double> before = found;
    stop = true;
    CHECK(perm_plan_gradient(plan.raw(), a.values.data(), found.data(), nullptr, nullptr) == PERM_CANCELLED);
    CHECK(perm_plan_marginals(plan.raw(), a.values.data(), found.data(), nullptr, nullptr) == PERM_CANCELLED);
    CHECK(found == before);
    stop = false;
    CHECK(perm_plan_marginals(plan.raw(), a.values.data(), found.data(), nullptr, nullptr) == PERM_OK);

    const perm::Csr large = weighted_grid(80, 80, Entries::real, run::seed(0x70673a)).weights;
    perm_opts little = planar();
    little.memory_limit_bytes = 1000;
    const perm::Plan small(large, little);
    std::vector<double> none(large.values.size(), 7);
    CHECK(perm_plan_gradient(small.raw(), large.values.data(), none.data(), nullptr, nullptr) ==
          PERM_REFUSED_MEMORY);
    CHECK(none == std::vector<double>(large.values.size(), 7));
}
