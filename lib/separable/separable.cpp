#include "lib/separable/separable.hpp"

#include "lib/run/matrix_pieces.hpp"
#include "lib/run/unfit_prime.hpp"
#include "lib/separable/plan.hpp"
#include "lib/structure/separable/walk.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace libperm {
namespace {

double entries_of(const Residues &residues) { // written out
    return static_cast<double>(residues.pattern.rows) * residues.pattern.rows;
}

DenseResidues dense_matrix(const Residues &residues, std::uint64_t matrix) {
    const Pattern &a = residues.pattern;
    const auto n = at(a.rows);
    DenseResidues dense{n, residues.primes[matrix], std::vector<std::uint64_t>(n * n)};
    std::int64_t k = 0;
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (const std::int32_t j : a.row(i))
            dense.values[at(i) * n + at(j)] = residues.values[matrix][at(k++)];
    return dense;
}

std::uint64_t along_the_walk(const SeparablePlan &plan, const Residues &residues, std::uint64_t matrix,
                             RunControl &control) {
    const double entries = entries_of(residues);
    Charge charge(&control.memory(), static_cast<std::int64_t>(plan.table_bytes + 8 * entries));
    const std::optional<Generators> found = generators_of(dense_matrix(residues, matrix), plan.shape.order,
                                                          plan.shape.band, [&control] { control.poll(); });
    if (!found) throw UnfitPrime(Engine::separable, "a minor beside the diagonal");
    const double bytes =
        separable_bytes(found->steps, found->above.kinds, found->below.kinds, plan.shape.band) + 8 * entries;
    charge.resize(std::max(charge.bytes(), static_cast<std::int64_t>(bytes)));
    return separable_permanent(*found, [&control](double products) { control.advance(products); });
}

} // namespace

EngineResult run_separable(const EngineRun &run, const EngineInput &input) {
    const SeparablePlan &plan = *plan_as<SeparablePlan>(run.choice);
    const Residues &residues = *input.residues();
    return matrix_by_matrix(
        run.control, residues, plan.products, plan.table_bytes + 8 * entries_of(residues),
        [&](std::uint64_t matrix) { return along_the_walk(plan, residues, matrix, run.control); });
}

} // namespace libperm
