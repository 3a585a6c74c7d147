#include "lib/separable/separable.hpp"

#include "lib/base/archive.hpp"
#include "lib/run/errors.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/proposals.hpp"
#include "lib/structure/separable/walk.hpp"
#include "lib/structure/structure.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace libperm {
namespace {

constexpr double product_seconds = 2.5e-9, entry_seconds = 2e-8; // of a matrix: its generators

// Its walk, and what that takes.
class SeparablePlan final : public EnginePlan {
  public:
    explicit SeparablePlan(const Separable &found) : shape(found) {
        const std::vector<ComingLines> steps = steps_of(shape.order);
        products = separable_products(steps, shape.above, shape.below, shape.band);
        table_bytes = separable_bytes(steps, shape.above, shape.below, shape.band);
    }

    Separable shape;
    double products = 0, table_bytes = 0; // of a matrix

    double matrix_products() const override { return products; }
    std::int64_t bytes() const override { return 16 * std::ssize(shape.order.rows); }
};

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

std::uint64_t along_the_walk(const SeparablePlan &plan, const Residues &residues, std::uint64_t matrix) {
    const double entries = entries_of(residues);
    Charge charge(&call().memory(), static_cast<std::int64_t>(plan.table_bytes + 8 * entries));
    const std::optional<Generators> found =
        generators_of(dense_matrix(residues, matrix), plan.shape.order, plan.shape.band);
    if (!found) throw UnfitPrime(Engine::separable, "a minor beside the diagonal");
    const double bytes =
        separable_bytes(found->steps, found->above.kinds, found->below.kinds, plan.shape.band) + 8 * entries;
    charge.resize(std::max(charge.bytes(), static_cast<std::int64_t>(bytes)));
    return separable_permanent(*found, [](double products) { call().advance(products); });
}

} // namespace

void propose_separable(Proposals &task, Engine self) {
    if (!task.wants_on_cpu(self)) return;
    const Structure *structure = task.values.structure;
    if (!structure || !structure->is_separable())
        return refuse_block(task, self,
                            "takes matrices of order 24 or more with low ranks on both sides of the "
                            "diagonal, of a band or of a staircase: this one is none, as far as was looked");
    const auto plan = std::make_shared<const SeparablePlan>(structure->separable);
    const double matrices = task.matrices(), entries = static_cast<double>(task.a.rows) * task.a.rows;
    Candidate c;
    c.engine = self;
    c.cost.operations = matrices * plan->products;
    c.cost.serial_seconds =
        call_seconds + matrices * (product_seconds * plan->products + entry_seconds * entries);
    c.cost.bytes_of_matrix = plan->table_bytes + 8 * entries;
    c.cost.bytes = c.cost.bytes_of_matrix + 8 * matrices * static_cast<double>(task.a.nnz());
    c.plan = plan;
    task.add(std::move(c), {});
}

EngineResult run_separable(const EngineRun &run, const EngineInput &input) {
    const SeparablePlan &plan = *plan_as<SeparablePlan>(run.choice);
    const Residues &residues = *input.residues();
    return matrix_by_matrix(residues, plan.products, plan.table_bytes + 8 * entries_of(residues),
                            [&](std::uint64_t matrix) { return along_the_walk(plan, residues, matrix); });
}

std::string saved_separable(const EnginePlan &, bool) { return "s"; } // it follows from the structure

std::shared_ptr<const EnginePlan> restored_separable(std::string_view bytes, const PlanSource &of) {
    require(bytes == "s" && of.structure.is_separable(), "a staircase");
    return std::make_shared<const SeparablePlan>(of.structure.separable);
}

void check_separable(const Candidate &c) { require(plan_as<SeparablePlan>(c) && !c.on_gpu, "a staircase"); }

} // namespace libperm
