#include "lib/separable/plan.hpp"

#include "lib/base/fields.hpp"
#include "lib/run/proposals.hpp"
#include "lib/structure/separable/walk.hpp"

#include <algorithm>

namespace libperm {
namespace {

constexpr double product_seconds = 2e-9, entry_seconds = 2e-8; // of a matrix: its generators

} // namespace

SeparablePlan::SeparablePlan(const Separable &found) : shape(found) {
    const std::vector<ComingLines> steps = steps_of(shape.order);
    products = separable_products(steps, shape.above, shape.below, shape.band);
    table_bytes = separable_bytes(steps, shape.above, shape.below, shape.band);
}

void propose_separable(Proposals &task, Engine self) {
    if (!task.wants_on_cpu(self)) return;
    const Structure *structure = task.values.structure;
    Candidate c;
    c.engine = self;
    if (structure && structure->is_separable()) {
        const auto plan = std::make_shared<const SeparablePlan>(structure->separable);
        const double matrices = task.matrices(), entries = static_cast<double>(task.a.rows) * task.a.rows;
        c.cost.operations = matrices * plan->products;
        c.cost.serial_seconds =
            call_seconds + matrices * (product_seconds * plan->products + entry_seconds * entries);
        c.cost.bytes_of_matrix = plan->table_bytes + 8 * entries;
        c.cost.bytes = c.cost.bytes_of_matrix + 8 * matrices * static_cast<double>(task.a.nnz());
        c.plan = plan;
    } else if (task.asks_for(self)) {
        c.refusal = PERM_UNSUPPORTED;
        c.why_not = "takes matrices of order 24 or more with low ranks on both sides of the diagonal, of a "
                    "band or of a "
                    "staircase: this one is none, as far as was looked";
    } else {
        return;
    }
    task.add(std::move(c), {});
}

std::string saved_separable(const EnginePlan &, bool) { return "s"; } // it follows from the structure

std::shared_ptr<const EnginePlan> restored_separable(std::string_view bytes, const PlanSource &of) {
    require(bytes == "s" && of.structure.is_separable(), "a staircase");
    return std::make_shared<const SeparablePlan>(of.structure.separable);
}

void check_separable(const Candidate &c) { require(plan_as<SeparablePlan>(c) && !c.on_gpu, "a staircase"); }

} // namespace libperm
