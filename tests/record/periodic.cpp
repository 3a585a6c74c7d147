#include "tests/record/host.hpp"

#include "lib/base/error.hpp"
#include "lib/number/residues.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/periodic/answers/residue_terms.hpp"
#include "tests/record/played.hpp"
#include "tests/support/periodic_cells.hpp"

#include <optional>

using namespace libperm;
using perm::families::Random;

namespace {

constexpr const char *kinds[] = {"ones", "integers", "rationals", "complex"};

// A cell of the kind, number k of them.
PeriodicMatrix cell_of(int kind, int k, bool joined) {
    Random random(static_cast<std::uint64_t>(8 * k + kind));
    PeriodicMatrix a =
        kind == 0 && k < 2 ? cells::strip(k + 2) : cells::any(random, static_cast<cells::Kind>(kind), joined);
    a.joined = joined;
    return a;
}

// Not written out; none where a table will not do.
std::optional<PeriodicPlan> tables_of(const PeriodicMatrix &a) {
    const PeriodProgram program = plan_period(a, false);
    PeriodicPlan plan = cells::planned(program.transposed ? transposed(a) : a);
    if (plan.program.transposed) plan.matrix = transposed(plan.matrix);
    plan.tables = table_program(plan.matrix, program);
    if (!plan.tables || plan.tables->slots > 12) return {};
    plan.values = values_of_moves(plan.matrix);
    return plan;
}

Residues residues_of_entries(const PeriodicPlan &plan) {
    const IntegerEntries entries = integer_entries(plan);
    const Pattern none;
    return residues_of(none, entries.re, entries.im, primes_below(47, 2, !entries.im.empty()));
}

std::string text_of(const ResidueTerms &terms) {
    std::string text = "residues=";
    for (const std::vector<std::uint64_t> &of_prime : terms)
        text += fmt::format("[{} {}]", of_prime.back(), digest_of(of_prime));
    return text;
}

std::string table_text(HostQueue &queue, const PeriodicPlan &plan) {
    const Residues residues = residues_of_entries(plan);
    const DeviceQueues one(queue);
    return text_of(told_terms(residues.primes.size(), [&](const TellTerms &tell) {
        find_by_table(plan, residues, 2, 5, &one, tell);
    }));
}

std::string growth_text(HostQueue &queue, const PeriodicPlan &plan) {
    try {
        const Growth growth = table_growth(plan, std::vector<double>(plan.values.size(), 1), &queue);
        return fmt::format("lower={} upper={}", bits_of(growth.lower), bits_of(growth.upper));
    } catch (const Error &error) {
        return fmt::format("refused={}", quoted(error.what()));
    }
}

} // namespace

void record_periodic(RecordLines &to) {
    HostQueue queue;
    for (int kind = 0; kind < 4; ++kind)
        for (int k = 0; k < 4; ++k) {
            const auto record = [&](const char *what, const PeriodicPlan &plan, const auto &text) {
                record_on(to, fmt::format("periodic/{}/{}/{}", what, kinds[kind], k), queue,
                          [&](HostQueue &q) { return text(q, plan); });
            };
            const std::optional<PeriodicPlan> tables = tables_of(cell_of(kind, k, false)),
                                              ring = tables_of(cell_of(kind, k, true));
            if (tables) record("table", *tables, table_text);
            if (kind == 0 && tables) record("growth", *tables, growth_text);
            if (kind == 0 && ring) record("growth_of_ring", *ring, growth_text);
        }
}
