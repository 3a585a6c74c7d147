#include "lib/low_rank/plan.hpp"

#include "jit/text/text.hpp"
#include "lib/base/fields.hpp"
#include "lib/low_rank/permanent_of_forms.hpp"
#include "lib/run/proposals.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr double entry_seconds = 2e-8;

double monomials_of(const LowRank &of, std::int32_t n) {
    return monomial_count(n, static_cast<std::int32_t>(of.rows.size()));
}

// With solving for the columns.
double products_of(const LowRank &of, std::int32_t n) {
    const auto rank = static_cast<double>(of.rows.size());
    return products_of_forms(n, static_cast<std::int32_t>(of.rows.size())) + 8.0 * n * rank * rank;
}

LowRankPlan plan_low_rank(const Pattern &a, const LowRank &of) {
    LowRankPlan plan;
    plan.lines = of;
    plan.n = a.rows;
    plan.products = products_of(of, a.rows);
    std::vector<std::int64_t> entries;
    for (const std::int32_t r : of.rows)
        for (std::int32_t j = 0; j < a.cols; ++j) entries.push_back(entry_at(a, r, j));
    for (const std::int32_t c : of.cols)
        for (std::int32_t i = 0; i < a.rows; ++i) entries.push_back(entry_at(a, i, c));
    plan.read = EntriesRead(std::move(entries));
    return plan;
}

std::shared_ptr<const LowRankPlan> plan_rounded(const Pattern &a) {
    LowRankPlan plan;
    plan.n = a.rows;
    plan.products = static_cast<double>(a.nnz());
    return std::make_shared<const LowRankPlan>(std::move(plan));
}

Cost low_rank_cost(const Proposals &task, const LowRank &of) {
    const double matrices = task.matrices(), lines = 2.0 * task.a.rows * static_cast<double>(of.rows.size());
    Cost cost;
    cost.operations = matrices * products_of(of, task.a.rows);
    cost.serial_seconds = call_seconds + product_seconds * cost.operations + matrices * entry_seconds * lines;
    const auto rank = static_cast<std::int32_t>(of.rows.size());
    const double bytes = bytes_of_forms(task.a.rows, rank, 1);
    cost.bytes_of_matrix = bytes - bytes_of_forms(task.a.rows, rank, 0);
    cost.bytes = bytes + 8 * matrices * lines;
    return cost;
}

bool may_round(const Proposals &task) {
    return task.values.numbers.precision == Precision::double_ && task.values.structure->nearly_rank_one;
}

} // namespace

void propose_low_rank(Proposals &task, Engine self) {
    if (!task.wants_on_cpu(self)) return;
    const Structure *structure = task.values.structure;
    Candidate c;
    c.engine = self;
    const LowRank none, &lines = structure ? structure->low_rank : none;
    const bool is_low = !lines.rows.empty() && monomials_of(lines, task.a.rows) <= most_monomials;
    if (is_low) {
        c.cost = low_rank_cost(task, lines);
        c.plan = std::make_shared<const LowRankPlan>(plan_low_rank(task.a, lines));
    } else if (structure && may_round(task)) {
        const auto plan = plan_rounded(task.a);
        c.cost.operations = plan->products;
        c.cost.serial_seconds = call_seconds + 1e-8 * plan->products;
        c.plan = plan;
    } else if (task.asks_for(self)) {
        c.refusal = PERM_UNSUPPORTED;
        c.why_not = lines.rows.empty()
                        ? "takes matrices of rank 6 or less and of order 16 or more, as the values say: this "
                          "one is none"
                        : formatted("would multiply polynomials with {:.3g} monomials",
                                    monomials_of(lines, task.a.rows));
    } else {
        return;
    }
    task.add(std::move(c), {});
}

bool low_rank_by_residues(const Candidate &c) {
    const auto *plan = plan_as<LowRankPlan>(c);
    return plan && plan->is_exact();
}

std::string saved_low_rank(const EnginePlan &plan, bool) { // the rest follows from the structure
    return dynamic_cast<const LowRankPlan &>(plan).is_exact() ? "e" : "r";
}

std::shared_ptr<const EnginePlan> restored_low_rank(std::string_view bytes, const PlanSource &of) {
    const LowRank &lines = of.structure.low_rank;
    if (bytes == "r") {
        require(of.structure.nearly_rank_one && of.numbers.are_tracked(), "a rank of nearly one");
        return plan_rounded(of.a);
    }
    require(bytes == "e" && !lines.rows.empty() && monomials_of(lines, of.a.rows) <= most_monomials,
            "a low rank");
    return std::make_shared<const LowRankPlan>(plan_low_rank(of.a, lines));
}

void check_low_rank(const Candidate &c) { require(plan_as<LowRankPlan>(c) && !c.on_gpu, "a low rank"); }

} // namespace libperm
