// The frontier with numbers that are not doubles: complex, double-double and both, against exact rationals;
// residues of several matrices at once, against integers.
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/frontier/slices.hpp"
#include "lib/input/matrix.hpp"
#include "lib/run/results.hpp"
#include "tests/support/run.hpp"
#include "tests/support/wide_cases.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace libperm;
using namespace wide;

namespace {

std::uint64_t test_seed() { return run::seed(0x77696465); }

constexpr FrontierForm forms[] = {FrontierForm::sparse, FrontierForm::dense};

// |value - truth| <= error.
void check_bound(const Outcome &outcome, const oracle::Gaussian &truth) {
    REQUIRE(outcome.wide);
    REQUIRE(std::isfinite(outcome.error.mantissa));
    const oracle::Exact re = outcome.wide->re - truth.re, im = outcome.wide->im - truth.im,
                        error = exactly(outcome.error);
    CHECK(re * re + im * im <= error * error);
}

void check_same(const Outcome &x, const Outcome &y) {
    CHECK(*x.wide == *y.wide);
    CHECK(x.value.mantissa == y.value.mantissa);
    CHECK(x.value.exp2 == y.value.exp2);
    CHECK(x.error.mantissa == y.error.mantissa);
    CHECK(x.error.exp2 == y.error.exp2);
}

} // namespace

TEST_CASE("wide numbers: within their bounds of exact permanents, with counters too") {
    Random random(test_seed());
    int compared = 0, counted = 0;
    for (int trial = 0; trial < run::cases(540); ++trial) {
        CAPTURE(trial);
        const auto kind = static_cast<Entries>(trial % static_cast<int>(Entries::all));
        const bool repeated = trial % 4 == 1;
        const std::int64_t n = trial < 60 ? 1 + trial % 3 : random.integer(2, 9);
        const Case c = make_case(n, random.uniform(0.1, 1), kind, repeated,
                                 trial % 2 ? Order::searched : Order::shuffled, random);
        const oracle::Gaussian truth = c.permanent();
        for (const Arithmetic arithmetic : arithmetics(kind))
            for (const bool scaled : {true, false}) {
                CAPTURE(static_cast<int>(arithmetic));
                CAPTURE(scaled);
                const WideEntries entries = wide_entries(c.block, arithmetic, scaled);
                for (const FrontierForm form : forms) {
                    if (c.program.counts && form == FrontierForm::dense) continue;
                    const Outcome outcome = run_wide(entries, c.program, form);
                    if (!scaled && std::isinf(outcome.error.mantissa)) continue; // it was asked for
                    check_bound(outcome, truth);
                    ++compared;
                    counted += c.program.counts;
                }
            }
    }
    CHECK(compared > run::enough(2000));
    CHECK(counted > run::enough(100));
}

TEST_CASE("wide numbers: the bounds say that most digits are right") {
    Random random(test_seed() + 1);
    const struct {
        Entries kind;
        Arithmetic arithmetic;
        double bound;
    } cases[] = {{Entries::complex, Arithmetic::complex, 1e-10},
                 {Entries::thirds, Arithmetic::dd, 1e-28},
                 {Entries::nonnegative, Arithmetic::dd, 1e-28},
                 {Entries::real, Arithmetic::dd, 1e-24},
                 {Entries::complex, Arithmetic::complex_dd, 1e-24}};
    for (const auto &[kind, arithmetic, bound] : cases)
        for (int trial = 0; trial < 20; ++trial) {
            const Case c = make_case(12, 0.4, kind, trial % 2, Order::searched, random);
            const WideEntries entries = wide_entries(c.block, arithmetic);
            CHECK(entries.nonnegative == (kind == Entries::thirds || kind == Entries::nonnegative));
            const Outcome outcome = run_wide(entries, c.program, FrontierForm::sparse);
            check_bound(outcome, c.permanent());
            CHECK((outcome.rel_error_bound < bound || outcome.exact));
            CHECK(outcome.counts.states > 0);
        }
}

TEST_CASE("wide numbers: opposite columns cancel, and nothing is claimed that is not so") {
    Random random(test_seed() + 2);
    for (int trial = 0; trial < 40; ++trial) {
        Case c =
            make_case(8, 1, trial % 2 ? Entries::complex : Entries::real, false, Order::shuffled, random);
        std::size_t k = 0;
        for (auto &row : c.rows) { // perm of (a, b; -a, b) is 0
            for (std::size_t j = 0; j < 8; ++j) row[j] = j < 2 ? row[j] : Gaussian{j % 3 == 0 ? 1 : -1, 0};
            for (const Gaussian &x : row) c.block.values[k++] = x;
        }
        const oracle::Gaussian truth = c.permanent();
        for (const Arithmetic arithmetic : {Arithmetic::complex, Arithmetic::complex_dd})
            for (const FrontierForm form : forms)
                check_bound(run_wide(wide_entries(c.block, arithmetic), c.program, form), truth);
    }
}

TEST_CASE("wide numbers and residues: the same bits on any number of threads") {
    Random random(test_seed() + 3);
    Case c = make_case(26, 0.25, Entries::complex, false, Order::searched, random);
    for (const Arithmetic arithmetic : {Arithmetic::complex, Arithmetic::complex_dd})
        for (const FrontierForm form : forms) {
            const WideEntries entries = wide_entries(c.block, arithmetic);
            const Outcome one = run_wide(entries, c.program, form);
            CHECK(one.counts.peak_states > 10000);
            for (const int threads : {2, 3}) {
                Outcome more;
                with_threads(threads, [&] { more = run_wide(entries, c.program, form, threads); });
                check_same(one, more);
            }
        }
    make_integer(c, 20);
    const Residues residues = residues_of(c.block, primes_below(62, 5));
    const auto one = run_residues(residues, c.program, FrontierForm::sparse);
    std::vector<std::uint64_t> more;
    with_threads(3, [&] { more = run_residues(residues, c.program, FrontierForm::sparse, 3); });
    CHECK(one == more);
    CHECK(one == run_residues(residues, c.program, FrontierForm::dense));
}

TEST_CASE("residues: of 1 .. 9 matrices at once, modulo primes just below 2^62 and small ones") {
    Random random(test_seed() + 4);
    int compared = 0;
    for (int trial = 0; trial < run::cases(200); ++trial) {
        CAPTURE(trial);
        const int bits = trial % 3 == 0 ? 0 : trial % 3 == 1 ? 4 : 70;
        Case c = make_case(random.integer(1, 12), random.uniform(0.1, 1),
                           trial % 2 ? Entries::real : Entries::nonnegative, trial % 4 == 1,
                           trial % 2 ? Order::searched : Order::shuffled, random);
        make_integer(c, bits);
        std::vector<std::uint64_t> primes = primes_below(62, at(1 + trial % 9));
        if (trial % 5 == 0) primes.back() = 101;
        if (trial % 7 == 0) primes.back() = primes.front();
        const Residues residues = residues_of(c.block, primes);
        const oracle::Gaussian truth = c.permanent();
        for (const FrontierForm form : forms) {
            if (c.program.counts && form == FrontierForm::dense) continue;
            const auto permanents = run_residues(residues, c.program, form);
            REQUIRE(permanents.size() == primes.size());
            for (std::size_t k = 0; k < primes.size(); ++k)
                CHECK(permanents[k] == residue(truth.re, primes[k]));
            ++compared;
        }
    }
    CHECK(compared > run::enough(300));
}

TEST_CASE("wide numbers and residues: keys of many words") {
    Random random(test_seed() + 5);
    for (const std::int32_t words : {2, 4, 5, 60}) {
        Case c = make_case(9, 0.5, Entries::complex, words % 2 == 0, Order::shuffled, random);
        FrontierProgram spread = c.program;
        for (FrontierStep &step : spread.steps)
            for (FrontierTerm &t : step.terms) t.slot += 64 * ((7 * t.slot + words - 1) % words);
        spread.slots = 64 * words;
        const WideEntries entries = wide_entries(c.block, Arithmetic::complex_dd);
        check_bound(run_wide(entries, spread, FrontierForm::sparse), c.permanent());
        make_integer(c, 30);
        const Residues residues = residues_of(c.block, primes_below(62, 3));
        CHECK(run_residues(residues, spread, FrontierForm::sparse) ==
              run_residues(residues, c.program, FrontierForm::sparse));
    }
    FrontierProgram wide;
    wide.slots = 64 * 64 + 1;
    Case c = make_case(3, 1, Entries::real, false, Order::shuffled, random);
    CHECK_THROWS_AS(run_wide(wide_entries(c.block, Arithmetic::dd), wide, FrontierForm::sparse), Error);
}

TEST_CASE("wide numbers and residues: slices add up to the whole") {
    Random random(test_seed() + 6);
    int several = 0;
    for (int trial = 0; trial < 30; ++trial) {
        CAPTURE(trial);
        const Arithmetic arithmetic = trial % 2 ? Arithmetic::complex_dd : Arithmetic::complex;
        Case c = make_case(random.integer(8, 12), 0.45, Entries::complex, false, Order::searched, random);
        SliceSearch search;
        search.most_bytes = std::max(100.0, dense_peak_bytes(c.program, arithmetic) / 6);
        search.needs = [&](const FrontierProgram &part) -> SliceNeeds {
            return {1, dense_peak_bytes(part, arithmetic)};
        };
        const auto slices = find_slices(c.program, search);
        several += slices.size() > 1;
        const WideEntries entries = wide_entries(c.block, arithmetic);
        MemoryBudget memory(std::int64_t{1} << 32);
        const auto run_sliced = [&](const FrontierInput &input) {
            const FrontierRun whole{input, c.program, memory, 1};
            const auto run = [&](std::size_t, const FrontierProgram &part) {
                return run_dense_frontier(whole.of(part));
            };
            return run_in_slices(whole, slices, {libperm::one_worker, run});
        };
        const Outcome sum = outcome_of(run_sliced(entries));
        check_bound(sum, c.permanent());
        CHECK(sum.rel_error_bound < (arithmetic == Arithmetic::complex ? 1e-9 : 1e-23));
        CHECK(sum.counts.slices == std::ssize(slices));
        make_integer(c, 40);
        const Residues residues = residues_of(c.block, primes_below(62, 3));
        const EngineResult permanents = run_sliced(residues);
        CHECK(std::get<ResidueVector>(permanents.value) ==
              run_residues(residues, c.program, FrontierForm::sparse));
    }
    CHECK(several > run::enough(15));
}

TEST_CASE("double-doubles and residues: a hundred rows and more") {
    using perm::families::Entries;
    for (const auto &[n, numbers] : {std::pair{160, Entries::nonnegative},
                                     {90, Entries::real},
                                     {120, Entries::ones},
                                     {110, Entries::integers}}) {
        CAPTURE(n);
        const perm::Csr a = perm::families::banded(n, 3, 4, numbers, test_seed() + 7);
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
        const bool is_signed = numbers == Entries::real || numbers == Entries::integers;
        const bool whole = numbers == Entries::ones || numbers == Entries::integers;
        for (const FrontierForm form : forms) {
            for (const Arithmetic arithmetic : {Arithmetic::dd, Arithmetic::complex_dd}) {
                const Outcome outcome = run_wide(wide_entries(block, arithmetic), program, form);
                check_bound(outcome, {truth, 0});
                CHECK(outcome.rel_error_bound < (is_signed ? 0.1 : 1e-27));
            }
            if (!whole) continue;
            const Residues residues = residues_of(block, primes_below(62, 3));
            const auto permanents = run_residues(residues, program, form);
            for (std::size_t k = 0; k < 3; ++k) CHECK(permanents[k] == residue(truth, residues.primes[k]));
        }
    }
}

TEST_CASE("bytes of a state's number") {
    CHECK(number_bytes(true) == 8);
    CHECK(number_bytes(false) == 16);
    CHECK(number_bytes(Arithmetic::complex) == 24);
    CHECK(number_bytes(Arithmetic::dd) == 24);
    CHECK(number_bytes({Arithmetic::dd, true}) == 16);
    CHECK(number_bytes(Arithmetic::complex_dd) == 40);
    CHECK(number_bytes({Arithmetic::modular, false, 1}) == 8);
    CHECK(number_bytes({Arithmetic::modular, false, 2}) == 16);
    CHECK(number_bytes({Arithmetic::modular, false, 9}) == 32);
    CHECK(number_bytes(Arithmetic::modular) == 8);
}
