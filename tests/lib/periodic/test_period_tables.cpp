// Operators that are not written out: tables changed in place, on the processor and on a device that the host
// plays, against operators that are.
#include "jit/compile/nvrtc.hpp"
#include "jit/kernel/period_table.hpp"
#include "lib/base/error.hpp"
#include "lib/number/residues.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/periodic/answers/periodic_task.hpp"
#include "lib/periodic/answers/residue_terms.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/nvrtc_target.hpp"
#include "tests/support/periodic_cells.hpp"
#include "tests/support/ptxas.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

using namespace libperm;
using perm::families::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x7461626c); }

// The plan of the same matrix, not written out; none where a table will not do.
std::optional<PeriodicPlan> tables_of(const PeriodicMatrix &a) {
    const PeriodProgram program = plan_period(a, false);
    PeriodicPlan plan = cells::planned(program.transposed ? transposed(a) : a);
    if (plan.program.transposed) plan.matrix = transposed(plan.matrix);
    plan.tables = table_program(plan.matrix, program);
    if (!plan.tables) return {};
    plan.values = values_of_moves(plan.matrix);
    return plan;
}

} // namespace

TEST_CASE("tables changed in place have the terms of the operator") {
    Random random(test_seed());
    HostQueue queue, another, third;
    const DeviceQueues one(queue), three([&] {
        return std::vector<DeviceQueue *>{&queue, &another, &third};
    });
    int compared = 0, others = 0, with_gaps = 0;
    for (int trial = 0; trial < run::cases(80); ++trial) {
        const PeriodicMatrix a = cells::any(random, static_cast<cells::Kind>(trial % 4), false);
        CAPTURE(cells::text(a));
        const std::optional<PeriodicPlan> tables = tables_of(a);
        if (!tables || tables->tables->slots > 12) continue;
        const PeriodicPlan written = cells::planned(a);
        const IntegerEntries entries = integer_entries(*tables);
        const bool gaussian = !entries.im.empty();
        const std::size_t matrices = trial % 3 == 0 ? 1 : trial % 3 == 1 ? 2 : 5;
        const std::vector<std::uint64_t> primes = primes_below(47, (matrices + gaussian) / 2 * 2, gaussian);
        const std::int64_t first = trial % 5, count = 1 + trial % 6;
        const Pattern none;
        const Residues residues = residues_of(none, entries.re, entries.im, primes);
        // The one may be of rows where the other is of columns, each with multiples of its own.
        const std::vector<Outcome> truth = cells::exact_terms(written, first, count),
                                   found = cells::exact_terms(*tables, first, count);
        for (std::int64_t k = 0; k < count; ++k) {
            const auto at = static_cast<std::size_t>(k);
            CHECK(cells::value_of(found[at]).re == cells::value_of(truth[at]).re);
            CHECK(cells::value_of(found[at]).im == cells::value_of(truth[at]).im);
            others += cells::value_of(truth[at]).re != 0;
            ++compared;
        }
        if (primes.empty()) continue;
        const auto by = [&](const DeviceQueues *devices) {
            return told_terms(primes.size(), [&](const TellTerms &tell) {
                find_by_table(*tables, residues, first, count, devices, tell);
            });
        };
        const ResidueTerms here = by(nullptr);
        CHECK(by(&one) == here);
        CHECK(by(&three) == here);
        for (const TableStep &step : tables->tables->steps) with_gaps += step.clears;
    }
    CHECK((queue.is_whole() && another.is_whole() && third.is_whole()));
    CHECK(another.launches() + third.launches() > run::enough(40));
    CHECK(compared > run::enough(100));
    CHECK(others > run::enough(40));
    CHECK(with_gaps > 0);
}

TEST_CASE("the growth by tables is that of the operator, on a device to the bit") {
    Random random(test_seed() + 1);
    HostQueue queue;
    int compared = 0;
    for (int trial = 0; trial < run::cases(40); ++trial) {
        PeriodicMatrix a =
            trial < 6 ? cells::strip(trial % 3 + 2) : cells::any(random, cells::Kind::ones, trial % 2 == 0);
        a.joined = trial % 2 == 0;
        CAPTURE(cells::text(a));
        const std::optional<PeriodicPlan> tables = tables_of(a);
        if (!tables || tables->tables->slots > 10) continue;
        const PeriodicPlan written = cells::planned(a), &plan = *tables;
        const std::vector<double> factors(plan.values.size(), 1);
        Growth here, there;
        try {
            here = table_growth(plan, factors, nullptr);
        } catch (const Error &error) {
            CHECK(error.status() == PERM_UNSUPPORTED);
            CHECK(!a.joined);
            CHECK(trial >= 6);
            continue;
        }
        there = table_growth(plan, factors, &queue);
        CHECK(here.lower == there.lower);
        CHECK(here.upper == there.upper);
        const Growth truth = growth_of(written);
        CHECK(here.lower <= truth.upper);
        CHECK(truth.lower <= here.upper);
        if (trial < 6) CHECK(here.upper - here.lower <= 1e-12 * here.upper);
        ++compared;
    }
    CHECK(queue.is_whole());
    CHECK(compared > run::enough(12));
}

TEST_CASE("what a table does not answer the operator does, where it fits") {
    Random random(test_seed() + 2);
    constexpr std::int64_t late = 1500; // exactly, a table takes longer than the operator
    int compared = 0, grown = 0, rounded = 0;
    for (int trial = 0; trial < run::cases(30); ++trial) {
        const PeriodicMatrix a =
            cells::any(random, trial % 2 == 0 ? cells::Kind::ones : cells::Kind::integers, false);
        CAPTURE(cells::text(a));
        std::optional<PeriodicPlan> tables = tables_of(a);
        if (!tables || tables->tables->slots > 10) continue;
        tables->open = {};
        tables->may_be_written = true;
        tables->options.precision = Precision::double_;
        const PeriodicPlan written = cells::planned(a, "double");
        if (written.states() > 60) continue;
        const std::vector<Outcome> here = periodic_terms(*tables, late, 5),
                                   there = cells::exact_terms(written, late, 5);
        for (std::size_t k = 0; k < here.size(); ++k) {
            rounded += !here[k].exact;
            const mpq_class error = cells::value_of(here[k]).re - cells::value_of(there[k]).re;
            CHECK(abs(error) <= exactly(here[k].error));
            ++compared;
        }
        const GeneratingFunction f = generating_function(*tables), g = generating_function(written);
        CHECK(f.denominator == g.denominator);
        CHECK(f.numerator == g.numerator);
        if (!tables->nonnegative) continue;
        const Growth x = growth_of(*tables), y = growth_of(written);
        CHECK(x.lower <= y.upper);
        CHECK(y.lower <= x.upper);
        ++grown;
    }
    CHECK(compared > run::enough(40));
    CHECK(rounded > run::enough(20));
    CHECK(grown > run::enough(5));
}

TEST_CASE("NVRTC compiles the kernels of tables without a spilled register") {
    const std::optional<std::string> target = nvrtc_target();
    if (!target) return;
    for (const StateNumbers &numbers : {StateNumbers(true), StateNumbers(Arithmetic::modular)}) {
        CAPTURE(name_of(numbers));
        for (const KernelRecipe &kernel :
             {period_table_kernel(numbers), period_table_row_kernel(numbers, {0, 4}),
              period_table_row_kernel(numbers, {2, 3}), period_table_row_kernel(numbers, {4, 0})})
            for (const PtxasReport &report :
                 read_ptxas(compile(kernel.source(), *target, kernel.flags).log)) {
                CAPTURE(report.kernel);
                CHECK(report.spill_stores == 0);
                CHECK(report.stack == 0);
                CHECK(report.registers <= 64);
            }
    }
}
