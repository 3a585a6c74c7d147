#include "lib/background/plan.hpp"

#include "lib/background/rests.hpp"
#include "lib/base/fields.hpp"
#include "lib/run/proposals.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace libperm {
namespace {

constexpr std::int32_t most_open_at_once = 30;
constexpr double product_seconds = 1.5e-9, entry_seconds = 2e-7; // of a matrix

EntriesRead entries_of(const Pattern &a, const Background &b) {
    std::vector<std::int64_t> entries;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        if (const std::int32_t j = b.col_of_row[at(i)]; j >= 0) entries.push_back(entry_at(a, i, j));
        for (const std::int32_t j : b.beside.row(i)) entries.push_back(entry_at(a, i, j));
    }
    for (const std::int32_t i : b.base_rows)
        for (const std::int32_t j : b.base_cols) entries.push_back(entry_at(a, i, j));
    for (std::int32_t j = 0; j < a.cols; ++j)
        if (const std::int32_t i = b.row_of_col[at(j)]; i >= 0) entries.push_back(entry_at(a, i, j));
    return EntriesRead(std::move(entries));
}

// None: too many lines are open at once, or there are too many counts to keep apart.
std::optional<BackgroundPlan> planned_along(const Pattern &a, const Background &b, const LinesBeside &lines,
                                            std::vector<std::int32_t> order) {
    BackgroundPlan plan;
    plan.steps = counting_steps(lines, order);
    plan.order = std::move(order);
    plan.open = most_open(plan.steps);
    if (plan.open > most_open_at_once) return {};
    plan.counts = class_counts(b);
    if (plan.counts.rows.empty() || coefficients_of_rests(plan.counts) > most_counts) return {};
    plan.background = b;
    plan.products = sets_gone_through(plan.steps) * static_cast<double>(plan.counts.numbers) / 2 +
                    products_of_rests(plan.counts);
    plan.read = entries_of(a, b);
    return plan;
}

Cost background_cost(const Proposals &task, const BackgroundPlan &plan) {
    const double matrices = task.matrices();
    const auto entries = static_cast<double>(plan.read.all().size());
    Cost cost;
    cost.operations = matrices * plan.products;
    cost.serial_seconds =
        call_seconds + matrices * (product_seconds * plan.products + entry_seconds * entries);
    cost.bytes_of_matrix = plan.table_bytes();
    cost.bytes = cost.bytes_of_matrix + 8 * matrices * entries;
    return cost;
}

} // namespace

std::int64_t BackgroundPlan::bytes() const {
    return bytes_of(background.beside) + 32 * std::ssize(background.beside.col) + 8 * std::ssize(read.all()) +
           64 * std::ssize(order);
}

double BackgroundPlan::table_bytes() const {
    constexpr double of_rests = 9 + 8 * (most_classes + 1); // a coefficient, in as many polynomials at once
    return std::exp2(open) * static_cast<double>(counts.numbers) * 8 +
           of_rests * coefficients_of_rests(counts);
}

void propose_background(Proposals &task, Engine self) {
    if (!task.wants_on_cpu(self)) return;
    const Structure *structure = task.values.structure;
    Candidate c;
    c.engine = self;
    if (!structure || !structure->has_background()) {
        if (!task.asks_for(self)) return;
        c.refusal = PERM_UNSUPPORTED;
        c.why_not =
            "takes matrices of which most entries are u_i v_j, or that times a number for each pair of few "
            "classes of lines, of order 12 or more: this one is none";
        return task.add(std::move(c), {});
    }
    const Background &b = structure->background;
    const LinesBeside lines(b.beside);
    std::optional<BackgroundPlan> best =
        planned_along(task.a, b, lines, order_of_few_open(lines, task.poll()));
    if (best) {
        c.cost = background_cost(task, *best);
        c.plan = std::make_shared<const BackgroundPlan>(*std::move(best));
    } else {
        if (!task.asks_for(self)) return;
        c.refusal = PERM_UNSUPPORTED;
        c.why_not = "would keep more than 2^30 sets of lines apart, or 2^24 counts of lines of each class";
    }
    task.add(std::move(c), {});
}

std::string saved_background(const EnginePlan &plan, bool) { // the rest follows from the structure
    return written(dynamic_cast<const BackgroundPlan &>(plan).order);
}

std::shared_ptr<const EnginePlan> restored_background(std::string_view bytes, const PlanSource &of) {
    const Background &b = of.structure.background;
    constexpr const char *what = "an order of lines beside a background";
    require(of.structure.has_background(), "a background");
    auto order = all_from<std::vector<std::int32_t>>(bytes, what);
    const LinesBeside lines(b.beside);
    std::vector<std::int32_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    require(sorted == lines.with_entries(), what);
    auto plan = planned_along(of.a, b, lines, std::move(order));
    require(plan.has_value(), what);
    return std::make_shared<const BackgroundPlan>(*std::move(plan));
}

void check_background(const Candidate &c) {
    require(plan_as<BackgroundPlan>(c) && !c.on_gpu, "a background");
}

} // namespace libperm
