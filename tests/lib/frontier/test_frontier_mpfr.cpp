// The frontier with MPFR's numbers, in every form, against exact rationals.
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/frontier/slices.hpp"
#include "lib/input/matrix.hpp"
#include "lib/number/mpfr_numbers.hpp"
#include "lib/run/outcome.hpp"
#include "tests/support/branch_cases.hpp"
#include "tests/support/run.hpp"
#include "tests/support/wide_cases.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace libperm;
using namespace wide;
using branch_cases::Leaves;

namespace {

std::uint64_t test_seed() { return run::seed(0x6d706672); }

constexpr Leaves all_leaves[] = {Leaves::rows, Leaves::columns, Leaves::entries, Leaves::mixed};
// Of one, a few and many limbs, and as many as there can be.
constexpr int few_bits[] = {53, 64, 65, 100, 200, 256}, many_bits[] = {257, 500, 1024, 2000, 2048};

Outcome run_mpfr(const ExactBlock &block, int bits, const FrontierProgram &program, FrontierForm form,
                 int threads = 1) {
    Budgets b;
    const MpfrEntries entries{block, bits};
    return outcome_of(run_frontier(form, {entries, program, b.control, b.memory, threads}));
}

// |value - truth| <= error.
void check_bound(const Outcome &outcome, const oracle::Gaussian &truth) {
    REQUIRE(outcome.wide);
    REQUIRE(std::isfinite(outcome.error.mantissa));
    const oracle::Exact re = outcome.wide->re - truth.re, im = outcome.wide->im - truth.im,
                        error = exactly(outcome.error);
    CHECK(re * re + im * im <= error * error);
    if (outcome.exact) CHECK(*outcome.wide == truth);
}

void check_same(const Outcome &x, const Outcome &y) {
    CHECK(*x.wide == *y.wide);
    CHECK(x.error.mantissa == y.error.mantissa);
    CHECK(x.error.exp2 == y.error.exp2);
}

BranchProgram random_tree(const Pattern &a, int trial, Random &random) {
    BranchProgram branches =
        build_branch_program(a, branch_cases::random_tree(a, all_leaves[trial % 4], random));
    REQUIRE(branches.feasible);
    return branches;
}

} // namespace

TEST_CASE("MPFR: within their bounds of exact permanents, in every form") {
    Random random(test_seed());
    int compared = 0, counted = 0, exact = 0;
    for (int trial = 0; trial < run::cases(400); ++trial) {
        CAPTURE(trial);
        const auto kind = static_cast<Entries>(trial % static_cast<int>(Entries::all));
        const std::int64_t n = trial < 60 ? 1 + trial % 3 : random.integer(2, 9);
        const Case c = make_case(n, random.uniform(0.1, 1), kind, trial % 4 == 1,
                                 trial % 2 ? Order::searched : Order::shuffled, random);
        const BranchProgram branches = random_tree(c.block.pattern, trial, random);
        const oracle::Gaussian truth = c.permanent();
        for (const int bits : {few_bits[trial % 6], many_bits[trial % 5]}) {
            CAPTURE(bits);
            for (const FrontierForm form :
                 {FrontierForm::sparse, FrontierForm::dense, FrontierForm::branches}) {
                if (c.program.counts && form == FrontierForm::dense) continue;
                const bool is_tree = form == FrontierForm::branches;
                const Outcome outcome = run_mpfr(c.block, bits, is_tree ? branches.program : c.program, form);
                check_bound(outcome, truth);
                ++compared;
                counted += c.program.counts && !is_tree;
                exact += outcome.exact;
            }
        }
    }
    CHECK(compared > run::enough(2000));
    CHECK(counted > run::enough(100));
    CHECK(exact > run::enough(200));
}

TEST_CASE("MPFR: few bits are rounded, and the bound is no more than it must be") {
    Random random(test_seed() + 1);
    double closest = 0;
    for (int trial = 0; trial < run::cases(200); ++trial) {
        CAPTURE(trial);
        const bool is_complex = trial % 2 == 0;
        const Case c = make_case(random.integer(4, 9), 0.8, is_complex ? Entries::complex : Entries::thirds,
                                 false, Order::searched, random);
        const oracle::Gaussian truth = c.permanent();
        for (const int bits : {2, 5, 12, 53}) {
            CAPTURE(bits);
            const Outcome outcome = run_mpfr(c.block, bits, c.program, FrontierForm::sparse);
            if (bits < 12 && std::isinf(outcome.error.mantissa)) continue; // there is nothing to be known
            check_bound(outcome, truth);
            if (outcome.exact || bits < 53) continue;
            const double error = exactly(outcome.error).get_d(),
                         off = oracle::Exact(abs(outcome.wide->re - truth.re)).get_d();
            closest = std::max(closest, off / error);
            if (!is_complex) CHECK(outcome.rel_error_bound < 60 * std::ldexp(1.0, -bits));
        }
    }
    MESSAGE("an error was " << closest << " of its bound");
    CHECK(closest > 0.001);
}

TEST_CASE("MPFR: whole numbers do not round, and are known not to") {
    Random random(test_seed() + 2);
    for (int trial = 0; trial < 40; ++trial) {
        CAPTURE(trial);
        Case c = make_case(9, 0.6, Entries::real, trial % 3 == 0, Order::searched, random);
        make_integer(c, 20);
        const Outcome outcome = run_mpfr(c.block, 400, c.program, FrontierForm::sparse);
        CHECK(outcome.exact);
        CHECK(*outcome.wide == c.permanent());
    }
}

TEST_CASE("MPFR: opposite columns cancel, and nothing is claimed that is not so") {
    Random random(test_seed() + 3);
    for (int trial = 0; trial < 40; ++trial) {
        Case c =
            make_case(8, 1, trial % 2 ? Entries::complex : Entries::real, false, Order::shuffled, random);
        std::size_t k = 0;
        for (auto &row : c.rows) { // perm of (a, b; -a, b) is 0
            for (std::size_t j = 0; j < 8; ++j) row[j] = j < 2 ? row[j] : Gaussian{j % 3 == 0 ? 1 : -1, 0};
            for (const Gaussian &x : row) c.block.values[k++] = x;
        }
        for (const FrontierForm form : {FrontierForm::sparse, FrontierForm::dense})
            check_bound(run_mpfr(c.block, 70, c.program, form), c.permanent());
    }
}

TEST_CASE("MPFR: exponents far beyond those of doubles, and of MPFR's own range") {
    Random random(test_seed() + 4);
    for (const std::int64_t reach : {std::int64_t{1} << 12, std::int64_t{1} << 16, std::int64_t{1} << 20})
        for (int trial = 0; trial < 12; ++trial) {
            CAPTURE(reach);
            CAPTURE(trial);
            Case c = make_case(6, 0.7, trial % 2 ? Entries::complex : Entries::nonnegative, false,
                               Order::searched, random);
            std::vector<std::int64_t> of_row;
            for (int i = 0; i < 6; ++i) of_row.push_back(random.integer(-reach, reach));
            std::size_t k = 0;
            for (std::int32_t i = 0; i < 6; ++i)
                for (const std::int32_t j : c.block.pattern.row(i)) {
                    Gaussian &x = c.block.values[k++];
                    x = {times_power(x.re, of_row[at(i)]), times_power(x.im, of_row[at(i)])};
                    c.rows[at(i)][at(j)] = x;
                }
            const Outcome outcome = run_mpfr(c.block, 150, c.program, FrontierForm::sparse);
            check_bound(outcome, c.permanent());
            if (trial % 2 == 0) CHECK((outcome.exact || outcome.rel_error_bound < 1e-42));
        }
    ExactBlock one{{}, {{times_power(mpq_class(3), 1000), 0}}};
    one.pattern.rows = one.pattern.cols = 1;
    MpfrNumbers<4> numbers(MpfrEntries{one, 200});
    FrontierStep step;
    step.terms.emplace_back();
    step.terms.front().entry = 0;
    MpfrState<4> power = numbers.begin_step(step).front();
    MpfrNumbers<4>::with([&] {
        for (int k = 0; k < 40; ++k) power = numbers.multiply(power, power);
    });
    CHECK(power.exp2[0] > std::int64_t{1000} << 40);
    CHECK(power.exp2[0] <= std::int64_t{1002} << 40);
    CHECK(power.sign[0] == 1);
    CHECK(power.roundings > std::int64_t{1} << 32); // 3^64 and all below are exact
    CHECK(power.roundings < std::int64_t{1} << 34);
}

TEST_CASE("MPFR: the same bits on any number of threads") {
    Random random(test_seed() + 5);
    const Case c = make_case(24, 0.2, Entries::complex, false, Order::searched, random);
    const BranchProgram branches = random_tree(c.block.pattern, 0, random);
    for (const FrontierForm form : {FrontierForm::sparse, FrontierForm::dense}) {
        const Outcome one = run_mpfr(c.block, 100, c.program, form);
        CHECK(one.counts.peak_states > 1000);
        for (const int threads : {2, 3}) {
            Outcome more;
            with_threads(threads, [&] { more = run_mpfr(c.block, 100, c.program, form, threads); });
            check_same(one, more);
        }
    }
    const Case small = make_case(14, 0.2, Entries::real, false, Order::searched, random);
    const BranchProgram tree = random_tree(small.block.pattern, 3, random);
    const Outcome one = run_mpfr(small.block, 300, tree.program, FrontierForm::branches);
    for (const int threads : {2, 3}) {
        Outcome more;
        with_threads(threads, [&] {
            more = run_mpfr(small.block, 300, tree.program, FrontierForm::branches, threads);
        });
        check_same(one, more);
    }
}

TEST_CASE("MPFR: keys of many words, and slices add up to the whole") {
    Random random(test_seed() + 6);
    for (const std::int32_t words : {2, 4, 5, 60}) {
        const Case c = make_case(9, 0.5, Entries::complex, words % 2 == 0, Order::shuffled, random);
        FrontierProgram spread = c.program;
        for (FrontierStep &step : spread.steps)
            for (FrontierTerm &t : step.terms) t.slot += 64 * ((7 * t.slot + words - 1) % words);
        spread.slots = 64 * words;
        check_same(run_mpfr(c.block, 90, spread, FrontierForm::sparse),
                   run_mpfr(c.block, 90, c.program, FrontierForm::sparse));
    }
    FrontierProgram wide;
    wide.slots = 64 * 64 + 1;
    const Case one = make_case(3, 1, Entries::real, false, Order::shuffled, random);
    CHECK_THROWS_AS(run_mpfr(one.block, 53, wide, FrontierForm::sparse), libperm::Error);
    int several = 0;
    for (int trial = 0; trial < 20; ++trial) {
        CAPTURE(trial);
        const Case c =
            make_case(random.integer(8, 12), 0.45, Entries::complex, false, Order::searched, random);
        SliceSearch search;
        search.most_bytes = std::max(100.0, dense_peak_bytes(c.program, true) / 6);
        search.needs = [](const FrontierProgram &part) -> SliceNeeds {
            return {1, dense_peak_bytes(part, true)};
        };
        const auto slices = find_slices(c.program, search);
        several += slices.size() > 1;
        Budgets b;
        const MpfrEntries entries{c.block, 150};
        const FrontierRun whole{entries, c.program, b.control, b.memory, 1};
        const auto run = [&](std::size_t, const FrontierProgram &part) {
            return run_frontier(FrontierForm::dense, whole.of(part));
        };
        const Outcome sum = outcome_of(run_in_slices(whole, slices, {one_worker, run}, b.control));
        check_bound(sum, c.permanent());
        CHECK(sum.rel_error_bound < 1e-35);
        CHECK(sum.counts.slices == std::ssize(slices));
    }
    CHECK(several > run::enough(10));
}

TEST_CASE("MPFR: a hundred rows and more, all digits that were asked for") {
    namespace families = perm::families;
    for (const auto &[n, numbers] : {std::pair{160, families::Entries::nonnegative},
                                     {90, families::Entries::real},
                                     {120, families::Entries::ones}}) {
        CAPTURE(n);
        const perm::Csr a = families::banded(n, 3, 4, numbers, test_seed() + 7);
        const perm_csr view = a.view();
        const InputPattern input = read_pattern(&view);
        ExactBlock block{input.pattern, {}};
        if (a.pattern)
            block.values.assign(at(input.pattern.nnz()), {1, 0});
        else
            for (const double x : read_values(input, view.values).real)
                block.values.push_back({mpq_class(x), 0});
        const auto sides = frontier_sides(input.pattern, {});
        const FrontierOrder order = find_frontier_order(sides, {});
        const FrontierProgram program = build_frontier_program(sides[order.transposed ? 1 : 0], order);
        const oracle::Exact truth = oracle::by_frontier(a);
        for (const int bits : {200, 1000}) {
            const Outcome outcome = run_mpfr(block, bits, program, FrontierForm::sparse);
            check_bound(outcome, {truth, 0});
            const bool is_signed = numbers == families::Entries::real;
            CHECK((outcome.exact ||
                   outcome.rel_error_bound < std::ldexp(1.0, is_signed ? 100 - bits : 12 - bits)));
        }
    }
}

TEST_CASE("MPFR: bytes of a number, and the bits that there are") {
    const auto bytes = [](int bits, bool complex) {
        return mpfr_number_bytes({Precision::mpfr, complex, bits});
    };
    CHECK(bytes(53, false) == bytes(1024, false));
    CHECK(bytes(1024, false) < bytes(1025, false));
    CHECK(bytes(512, true) == bytes(1024, false));
    CHECK(bytes(513, true) == bytes(1025, false));
    CHECK(bytes(1025, false) >= 64 * 8);
    CHECK(bytes(4096, false) > 0);
    CHECK(bytes(4097, false) == 0);
    CHECK(bytes(2048, true) > 0);
    CHECK(bytes(2049, true) == 0);
}
