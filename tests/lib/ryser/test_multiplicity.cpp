// Equal columns in the frontier: counted states against exact arithmetic, closed forms and the same matrix
// with every column on its own.
#include "bench/families.hpp"
#include "lib/base/threads.hpp"
#include "lib/frontier/forms.hpp"
#include "lib/input/matrix.hpp"
#include "lib/run/results.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/scaling.hpp"
#include "tests/support/check.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace libperm;
namespace families = perm::families;
using families::Dense;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
std::uint64_t test_seed() { return run::seed(0x6d756c74); }

// The lowest row that equals each.
std::vector<std::int32_t> equal_rows(const Dense &rows) {
    std::map<std::vector<double>, std::int32_t> lowest;
    std::vector<std::int32_t> of_row;
    for (std::size_t i = 0; i < rows.size(); ++i)
        of_row.push_back(lowest.emplace(rows[i], static_cast<std::int32_t>(i)).first->second);
    return of_row;
}

LineClasses kinds_of(const perm::Csr &a) {
    return {equal_rows(families::to_dense(a)), equal_rows(families::to_dense(families::transpose(a)))};
}

enum class Rows { as_found, of_a, of_transposed, shuffled };

struct Prepared {
    Block block;
    std::array<FrontierSide, 2> sides;
    FrontierOrder order;
    FrontierProgram program;
};

Prepared prepare(const perm::Csr &matrix, const LineClasses &kinds, Rows rows = Rows::as_found,
                 std::uint64_t seed = 0) {
    const perm_csr view = matrix.view();
    const InputPattern input = read_pattern(&view);
    Prepared p{{input.pattern, {}}, frontier_sides(input.pattern, kinds), {}, {}};
    for (const double x : read_values(input, view.values).real) p.block.values.push_back(tracked(x));
    if (rows == Rows::of_a) p.sides[1] = p.sides[0];
    if (rows == Rows::of_transposed) p.sides[0] = p.sides[1];
    if (rows == Rows::shuffled) {
        families::Random random(seed);
        p.order.transposed = random.chance(0.5);
        for (const std::int64_t i : random.permutation(matrix.n_rows))
            p.order.rows.push_back(static_cast<std::int32_t>(i));
    } else {
        p.order = find_frontier_order(p.sides, {});
        REQUIRE(p.order.feasible);
    }
    const FrontierSide &side = p.sides[0].transposed == p.order.transposed ? p.sides[0] : p.sides[1];
    p.program = build_frontier_program(side, p.order);
    estimate_reachable(p.program, side, p.order, 8);
    return p;
}

Outcome compute(const Prepared &p, FrontierForm form = FrontierForm::sparse, int threads = 1) {
    MemoryBudget memory(std::int64_t{1} << 30);
    Outcome outcome;
    Block block = p.block;
    const std::int64_t exp2 = scale(block);
    with_threads(threads, [&] {
        outcome = outcome_of(run_frontier(form, {block, p.program, memory, threads}));
    });
    if (outcome.value.mantissa != 0) outcome.value.exp2 -= exp2;
    if (outcome.error.mantissa != 0) outcome.error.exp2 -= exp2;
    return outcome;
}

mpq_class exactly(const Scaled &x) {
    mpq_class q(x.mantissa);
    if (x.exp2 >= 0)
        mpq_mul_2exp(q.get_mpq_t(), q.get_mpq_t(), static_cast<mp_bitcnt_t>(x.exp2));
    else
        mpq_div_2exp(q.get_mpq_t(), q.get_mpq_t(), static_cast<mp_bitcnt_t>(-x.exp2));
    return q;
}

void check_outcome(const Outcome &outcome, const mpq_class &truth) {
    const mpq_class error = abs(exactly(outcome.value) - truth);
    if (outcome.exact) CHECK(error == 0);
    if (std::isfinite(outcome.error.mantissa)) CHECK(error <= exactly(outcome.error));
    if (std::isfinite(outcome.rel_error_bound))
        CHECK(error <= abs(truth) * mpq_class(outcome.rel_error_bound));
}

mpz_class factorial(std::int64_t n) {
    mpz_class f;
    mpz_fac_ui(f.get_mpz_t(), static_cast<unsigned long>(n));
    return f;
}

mpq_class power(const mpq_class &x, std::int64_t k) {
    mpq_class p = 1;
    for (; k > 0; --k) p *= x;
    return p;
}

// Over the contingency tables with these margins, from cell (i, j) on: the sum of prod value^t / t!.
mpq_class sum_of_tables(const Dense &value, std::vector<std::int64_t> &rows,
                        std::vector<std::int64_t> &columns, std::size_t i, std::size_t j) {
    if (i == rows.size()) return 1; // columns come out right when the rows do, and none is left negative
    if (j == columns.size())
        return rows[i] == 0 ? sum_of_tables(value, rows, columns, i + 1, 0) : mpq_class(0);
    mpq_class sum = 0;
    const std::int64_t most = std::min(rows[i], columns[j]);
    for (std::int64_t t = 0; t <= most; ++t) {
        rows[i] -= t, columns[j] -= t;
        sum +=
            power(mpq_class(value[i][j]), t) / factorial(t) * sum_of_tables(value, rows, columns, i, j + 1);
        rows[i] += t, columns[j] += t;
    }
    return sum;
}

mpq_class block_constant_permanent(const Dense &value, std::vector<std::int64_t> rows,
                                   std::vector<std::int64_t> columns) {
    mpq_class product = sum_of_tables(value, rows, columns, 0, 0);
    for (const std::int64_t r : rows) product *= factorial(r);
    for (const std::int64_t c : columns) product *= factorial(c);
    return product;
}

// n split at random into parts.
std::vector<std::int64_t> parts(std::int64_t n, std::int64_t largest, families::Random &random) {
    std::vector<std::int64_t> counts;
    for (std::int64_t part = 0; n > 0; n -= part) {
        part = random.integer(1, std::min(n, largest));
        counts.push_back(part);
    }
    return counts;
}

double any_entry(families::Random &random, int flavour) {
    const double x = families::random_entry(families::Entries::real, random);
    switch (flavour) {
    case 0:
        return 1;
    case 1:
        return families::random_entry(families::Entries::nonnegative, random);
    case 2:
        return families::random_entry(families::Entries::integers, random);
    case 3: // close to where integers round
        return std::ldexp(1.0, static_cast<int>(random.integer(0, 30))) +
               static_cast<double>(random.integer(-1, 1));
    case 4:
        return std::ldexp(x, static_cast<int>(random.integer(-1000, 900)));
    case 5: // near the range's lower end, some subnormal
        return std::ldexp(x, static_cast<int>(random.integer(-1060, -1000)));
    default:
        return x;
    }
}

// Blocks of equal entries with zeros among them, some columns and rows changed in one place, all of them in
// any order.
perm::Csr any_repeated_lines(std::int64_t n, families::Random &random) {
    const int flavour = static_cast<int>(random.integer(0, 6));
    const double density = random.chance(0.3) ? 1.0 : random.uniform(0.3, 1.0);
    const auto rows = parts(n, random.integer(1, n), random),
               columns = parts(n, random.integer(1, n), random);
    Dense value(rows.size(), std::vector<double>(columns.size(), 0.0));
    for (auto &row : value)
        for (double &x : row) x = random.chance(density) ? any_entry(random, flavour) : 0.0;
    Dense full = families::to_dense(families::block_constant(value, rows, columns));
    for (std::int64_t changes = random.chance(0.5) ? 0 : random.integer(0, n); changes > 0; --changes)
        full[at(random.integer(0, n - 1))][at(random.integer(0, n - 1))] =
            random.chance(0.3) ? 0.0 : any_entry(random, flavour);
    return families::permute(families::from_dense(full), random.permutation(n), random.permutation(n));
}

// With a perfect matching, which is what comes to the engines.
perm::Csr repeated_lines(std::int64_t n, families::Random &random) {
    for (;;) {
        const perm::Csr a = any_repeated_lines(n, random);
        const perm_csr view = a.view();
        if (maximum_matching(read_pattern(&view).pattern).size == n) return a;
    }
}

double states_bound(const FrontierProgram &program) {
    double bound = 1;
    for (const FrontierStep &s : program.steps) bound = std::max(bound, s.states_bound);
    return bound;
}

// Counters lie inside a word, none over another, and every column is counted.
void check_counters(const FrontierProgram &program, std::int64_t n) {
    std::vector<char> taken(at(program.slots), 0);
    std::int64_t closed = 0;
    for (const FrontierStep &step : program.steps) {
        for (const FrontierTerm &t : step.terms) {
            REQUIRE(t.slot / 64 == (t.slot + t.width - 1) / 64);
            REQUIRE(t.slot + t.width <= program.slots);
            REQUIRE((t.multiplicity >> t.width) == 0);
            for (std::int32_t bit = t.slot; bit < t.slot + t.width; ++bit) {
                CHECK(taken[at(bit)] == (t.opens ? 0 : 1));
                taken[at(bit)] = 1;
            }
        }
        for (const FrontierTerm &t : step.terms) {
            if (!t.closes) continue;
            CHECK(t.least == t.multiplicity);
            closed += t.multiplicity;
            std::fill_n(taken.begin() + t.slot, t.width, 0);
        }
    }
    CHECK(closed == n);
}

} // namespace

TEST_CASE("sides merge equal columns, and name the entry that stands for all of a kind") {
    families::Random random(test_seed());
    int merged = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const perm::Csr a = repeated_lines(random.integer(1, 9), random);
        const LineClasses kinds = kinds_of(a);
        const Prepared p = prepare(a, kinds, Rows::shuffled, random.bits());
        for (const FrontierSide &side : p.sides) {
            const auto &of = side.transposed ? kinds.of_row : kinds.of_col;
            const Dense dense = families::to_dense(side.transposed ? families::transpose(a) : a);
            std::vector<std::int32_t> stands; // for each kind, its lowest column
            for (std::int32_t j = 0; j < side.rows.rows; ++j)
                if (of[at(j)] == j) stands.push_back(j);
            REQUIRE(stands.size() == side.multiplicity.size());
            merged += side.counted();
            std::size_t k = 0;
            for (std::int32_t i = 0; i < side.rows.rows; ++i)
                for (const std::int32_t kind : side.rows.row(i)) {
                    const Tracked &x = p.block.values[at(side.entry[k++])];
                    CHECK(std::ldexp(x.value, static_cast<int>(x.exp2)) ==
                          dense[at(i)][at(stands[at(kind)])]);
                }
            for (std::size_t kind = 0; kind < stands.size(); ++kind)
                CHECK(std::count(of.begin(), of.end(), stands[kind]) == side.multiplicity[kind]);
        }
    }
    CHECK(merged > run::enough(100));
}

TEST_CASE("random matrices with equal lines keep their bounds against exact arithmetic") {
    families::Random random(test_seed() + 1);
    int compared = 0, counted = 0, exact = 0, rounded = 0;
    for (int trial = 0; trial < run::cases(3000); ++trial) {
        CAPTURE(trial);
        const perm::Csr a = repeated_lines(random.integer(1, 8), random);
        CAPTURE(describe(a));
        const mpq_class truth = oracle::by_ryser(a);
        const Rows rows = trial % 2 == 0 ? Rows::shuffled : trial % 4 == 1 ? Rows::of_a : Rows::of_transposed;
        const Prepared p = prepare(a, kinds_of(a), rows, random.bits());
        check_counters(p.program, a.n_rows);
        const Outcome outcome = compute(p);
        check_outcome(outcome, truth);
        CHECK(outcome.counts.peak_states <= states_bound(p.program) * (1 + 1e-9));
        for (const FrontierStep &s : p.program.steps) CHECK((s.reachable > 0 && s.reachable <= 1));
        ++compared;
        counted += p.program.counts;
        exact += outcome.exact && truth != 0;
        rounded += !outcome.exact && std::isfinite(outcome.rel_error_bound);
    }
    CHECK(compared > run::enough(2000));
    CHECK(counted > compared / 2);
    CHECK(exact > compared / 20);
    CHECK(rounded > compared / 5);
}

TEST_CASE("all entries equal: one state after every row, and n! within the bound") {
    for (const std::int64_t n : {1, 2, 3, 5, 10, 17, 18, 19, 25, 62, 100, 300})
        for (const double a : {1.0, 3.0, 0.1, -0.3}) {
            CAPTURE(n);
            CAPTURE(a);
            const perm::Csr matrix = families::constant(n, a);
            const mpq_class truth = power(mpq_class(a), n) * factorial(n);
            for (const Rows rows : {Rows::of_a, Rows::of_transposed}) {
                const Prepared p = prepare(matrix, kinds_of(matrix), rows);
                const Outcome outcome = compute(p);
                check_outcome(outcome, truth);
                CHECK(outcome.counts.states == static_cast<double>(n));
                CHECK(states_bound(p.program) == 1);
                CHECK(outcome.rel_error_bound <= 2.5e-16 * static_cast<double>(n));
                if (a == 1.0 || a == 3.0) CHECK(outcome.exact == (truth < mpq_class(0x1p53)));
            }
        }
}

TEST_CASE("block constant matrices have the value of their contingency tables, merged or not") {
    families::Random random(test_seed() + 2);
    int compared = 0;
    for (int trial = 0; trial < 40; ++trial) {
        CAPTURE(trial);
        const std::int64_t n = random.integer(6, 14);
        const auto rows = parts(n, n / 2, random), columns = parts(n, n / 2, random);
        if (rows.size() * columns.size() > 16) continue;
        const auto entries = trial % 2 ? families::Entries::integers : families::Entries::nonnegative;
        Dense value(rows.size(), std::vector<double>(columns.size()));
        for (auto &row : value)
            for (double &x : row) x = families::random_entry(entries, random);
        const perm::Csr a = families::block_constant(value, rows, columns);
        const mpq_class truth = block_constant_permanent(value, rows, columns);
        const Prepared p = prepare(a, kinds_of(a)), expanded = prepare(a, {});
        const Outcome outcome = compute(p), one_by_one = compute(expanded);
        check_outcome(outcome, truth);
        check_outcome(one_by_one, truth);
        CHECK(outcome.counts.peak_states < one_by_one.counts.peak_states);
        ++compared;
    }
    CHECK(compared > run::enough(10));
}

TEST_CASE("the rows of a counted program serve the dense form with every column on its own") {
    families::Random random(test_seed() + 3);
    int compared = 0;
    for (int trial = 0; trial < 60; ++trial) {
        CAPTURE(trial);
        const perm::Csr a = repeated_lines(8, random);
        const mpq_class truth = oracle::by_ryser(a);
        Prepared p = prepare(a, kinds_of(a));
        if (!p.program.counts) continue;
        const auto single = frontier_sides(p.block.pattern, {});
        p.program = build_frontier_program(single[p.order.transposed ? 1 : 0], p.order);
        CHECK(!p.program.counts);
        check_outcome(compute(p, FrontierForm::dense), truth);
        ++compared;
    }
    CHECK(compared > run::enough(15));
}

TEST_CASE("large lists of counted states agree with the dense form's single columns") {
    families::Random random(test_seed() + 6);
    int compared = 0;
    for (int trial = 0; trial < 6; ++trial) {
        const auto counts = parts(22, trial < 3 ? 3 : 5, random);
        Dense value(22, std::vector<double>(counts.size(), 0.0));
        for (auto &row : value)
            for (double &x : row) x = random.chance(0.8) ? any_entry(random, trial % 2 ? 1 : 6) : 0.0;
        const perm::Csr a = families::block_constant(value, std::vector<std::int64_t>(22, 1), counts);
        Prepared p = prepare(a, kinds_of(a), Rows::of_a);
        const Outcome counted = compute(p);
        CHECK(counted.counts.peak_states > 200);
        p.program = build_frontier_program(frontier_sides(p.block.pattern, {}).front(), p.order);
        const Outcome single = compute(p, FrontierForm::dense);
        CHECK(abs(exactly(counted.value) - exactly(single.value)) <=
              exactly(counted.error) + exactly(single.error));
        compared += counted.rel_error_bound < 1e-6 && single.rel_error_bound < 1e-6;
    }
    CHECK(compared > run::enough(3));
}

TEST_CASE("counters may take several words") {
    families::Random random(test_seed() + 4);
    for (const std::int64_t kinds : {24, 60, 110}) // of columns, all open at once: about two bits each
        for (const bool is_signed : {false, true})
            for (const Rows rows : {Rows::as_found, Rows::shuffled}) {
                CAPTURE(kinds);
                // An arrow of blocks: a full row of blocks, a full column, a diagonal.
                std::vector<std::int64_t> counts{kinds > 60 ? 1 : 2}; // two full rows make many states
                for (std::int64_t k = 1; k < kinds; ++k) counts.push_back(random.integer(1, 3));
                Dense value(at(kinds), std::vector<double>(at(kinds), 0.0));
                for (std::int64_t i = 0; i < kinds; ++i)
                    for (std::int64_t j = 0; j < kinds; ++j)
                        if (i == 0 || j == 0 || i == j)
                            value[at(i)][at(j)] = any_entry(random, is_signed ? 6 : 1);
                const perm::Csr a = families::block_constant(value, counts, counts);
                if (rows == Rows::shuffled && kinds > 24) continue; // too many states
                const Prepared p = prepare(a, kinds_of(a), rows, random.bits());
                CHECK(sparse_key_words(p.program) >= (rows == Rows::shuffled ? 1
                                                      : kinds > 60           ? 4
                                                      : kinds > 24           ? 4
                                                                             : 1));
                check_counters(p.program, a.n_rows);
                check_outcome(compute(p), oracle::by_frontier(a));
            }
}

TEST_CASE("large counted rows are cut into pieces without the result noticing") {
    families::Random random(test_seed() + 5);
    for (const int flavour : {1, 6}) {
        Dense value(16, std::vector<double>(16, 0.0));
        for (auto &row : value)
            for (double &x : row) x = random.chance(0.45) ? any_entry(random, flavour) : 0.0;
        for (std::size_t i = 0; i < 16; ++i) value[i][i] = 1;
        const std::vector<std::int64_t> pairs(16, 2);
        const perm::Csr a = families::block_constant(value, pairs, pairs);
        const Prepared p = prepare(a, kinds_of(a));
        const Outcome one = compute(p);
        CHECK(one.counts.peak_states > 20000); // so that there were pieces
        for (const int threads : {2, 3, 5}) {
            if (run::sanitized && threads > 2) break;
            const Outcome more = compute(p, FrontierForm::sparse, threads);
            CHECK(more.value.mantissa == one.value.mantissa);
            CHECK(more.value.exp2 == one.value.exp2);
            CHECK(more.rel_error_bound == one.rel_error_bound);
        }
    }
}
