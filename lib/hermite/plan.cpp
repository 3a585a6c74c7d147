#include "lib/hermite/hermite.hpp"

#include "jit/number/arithmetic.hpp"
#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/number/state_number.hpp"
#include "lib/run/proposals.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

constexpr double least_block = 64; // states: as many as are worth a loop of their own

double states_of(const EqualLines &kind) { return kind.count + 1.0; }

std::int64_t entry_between(const Pattern &a, std::int32_t i, std::int32_t j) {
    return entry_at(a, std::min(i, j), std::max(i, j));
}

// Of a kind the second line; -1: it has but one.
std::int32_t copy_of(const EqualLines &kind, const LineClasses &kinds) {
    if (kind.count == 1) return -1;
    for (std::size_t i = at(kind.line) + 1; i < kinds.of_row.size(); ++i)
        if (kinds.of_row[i] == kind.line) return static_cast<std::int32_t>(i);
    return -1;
}

// How many tuples of counts have each sum, with those of one kind more.
std::vector<double> with_kind(const std::vector<double> &tuples, std::int32_t count) {
    std::vector<double> to(tuples.size() + at(count), 0);
    double sum = 0;
    for (std::size_t s = 0; s < to.size(); ++s) {
        if (s < tuples.size()) sum += tuples[s];
        if (s > at(count)) sum -= tuples[s - at(count) - 1];
        to[s] = sum;
    }
    return to;
}

std::int64_t terms_of(const HermitePlan &plan, std::size_t kind) {
    std::int64_t terms = plan.loops[kind] >= 0;
    for (std::size_t j = kind; j < plan.size(); ++j) terms += plan.edge(kind, j) >= 0;
    return terms;
}

std::int64_t bytes_of_double(bool nonnegative) { return 8 * StateNumbers(nonnegative).doubles(); }

Cost hermite_cost(const HermitePlan &plan, bool nonnegative) {
    const double term = nonnegative ? 0.5e-9 : 0.8e-9;
    constexpr double line = 0.8e-6; // that is taken, whatever the states
    Cost cost;
    double lines = 0;
    for (const EqualLines &kind : plan.kinds) lines += kind.count;
    cost.peak_states = hermite_states(plan.kinds);
    cost.operations = hermite_operations(plan);
    cost.states = cost.operations / static_cast<double>(std::max<std::int64_t>(1, terms_of(plan, 0)));
    cost.bytes_per_state = bytes_of_double(nonnegative);
    cost.bytes = hermite_tables(plan) * cost.peak_states * static_cast<double>(cost.bytes_per_state);
    cost.serial_seconds = call_seconds + line * lines + term * cost.operations;
    return cost;
}

Slowdown hermite_slowdown(const Numbers &numbers, bool nonnegative, double bits) {
    const Pace pace{1.7, 2.1, 6.3, 1, residue_bits};
    Slowdown slowdown = pace.slowdown(numbers, bits);
    auto bytes = static_cast<double>(8 * StateNumbers(numbers.arithmetic(), nonnegative).doubles());
    if (numbers.precision == Precision::exact) {
        const double matrices = std::min<double>(residues_at_once, pace.matrices(numbers, bits));
        bytes = 8 * residue_pass(static_cast<int>(matrices));
    }
    slowdown.memory = bytes / static_cast<double>(bytes_of_double(nonnegative));
    return slowdown;
}

void sort_by_count(std::vector<EqualLines> &kinds) {
    std::stable_sort(kinds.begin(), kinds.end(),
                     [](const EqualLines &x, const EqualLines &y) { return x.count > y.count; });
}

// copy(kind): its second line, or -1.
template <class Copy>
HermitePlan plan_in_order(const Pattern &a, std::vector<EqualLines> order, const Copy &copy) {
    HermitePlan plan;
    plan.kinds = std::move(order);
    for (const EqualLines &i : plan.kinds) {
        plan.loops.push_back(entry_between(a, i.line, i.line));
        const std::int32_t second = copy(i);
        for (const EqualLines &j : plan.kinds) {
            const std::int32_t other = i.line == j.line ? second : j.line;
            plan.edges.push_back(other < 0 ? no_entry : entry_between(a, i.line, other));
        }
    }
    std::vector<std::int64_t> read = plan.loops;
    read.insert(read.end(), plan.edges.begin(), plan.edges.end());
    plan.read = EntriesRead(std::move(read));
    return plan;
}

} // namespace

std::int64_t HermitePlan::bytes() const {
    return static_cast<std::int64_t>(8 * (kinds.size() + loops.size() + edges.size() + read.all().size()));
}

double hermite_states(const std::vector<EqualLines> &kinds) {
    double states = 1;
    for (std::size_t k = 1; k < kinds.size(); ++k) states *= states_of(kinds[k]);
    return states;
}

std::vector<EqualLines> hermite_order(const Pattern &a, const LineClasses &kinds) {
    std::vector<EqualLines> order = kinds_of(kinds.of_row, a.rows);
    sort_by_count(order);
    return order;
}

HermitePlan plan_hermite(const Pattern &a, const LineClasses &kinds) {
    return plan_in_order(a, hermite_order(a, kinds),
                         [&](const EqualLines &kind) { return copy_of(kind, kinds); });
}

HermitePlan plan_hermite(const Pattern &a, std::vector<EqualLines> kinds) {
    sort_by_count(kinds);
    return plan_in_order(a, std::move(kinds),
                         [](const EqualLines &kind) { return kind.count > 1 ? kind.line + 1 : -1; });
}

std::size_t first_of_block(const std::vector<EqualLines> &kinds, std::size_t taken) {
    std::size_t first = kinds.size();
    double states = 1;
    while (first > taken + 1 && states < least_block) states *= states_of(kinds[--first]);
    return first;
}

int hermite_tables(const HermitePlan &plan) {
    return 1 + std::min(plan.kinds.front().count, plan.edge(0, 0) >= 0 ? 2 : 1);
}

double hermite_operations(const HermitePlan &plan) {
    const std::size_t size = plan.size();
    std::vector<double> tuples{1}; // of the counts before the block, by their sum
    double operations = 0, taken = 0;
    for (const EqualLines &kind : plan.kinds) taken += kind.count;
    for (std::size_t i = size; i-- > 0;) {
        if (i + 1 < first_of_block(plan.kinds, i)) tuples = with_kind(tuples, plan.kinds[i + 1].count);
        double block = 1, blocks = 0, reachable = 0;
        for (std::size_t k = first_of_block(plan.kinds, i); k < size; ++k) block *= states_of(plan.kinds[k]);
        taken -= plan.kinds[i].count;
        std::size_t sum = 0;
        for (std::int32_t s = 1; s <= plan.kinds[i].count; ++s) {
            for (; sum < tuples.size() && static_cast<double>(sum) <= taken + s; ++sum)
                reachable += tuples[sum];
            blocks += reachable;
        }
        operations += blocks * block * static_cast<double>(1 + terms_of(plan, i));
    }
    return operations;
}

void propose_hermite(Proposals &task, Engine self) {
    if (!task.wants_on_cpu(self)) return;
    Candidate c;
    c.engine = self;
    const std::vector<EqualLines> order = hermite_order(task.a, task.kinds);
    const double states = hermite_states(order);
    if (states > hermite_most_states) {
        c.cost.states = c.cost.peak_states = c.cost.operations = states;
        c.cost.serial_seconds = 1e-9 * states;
        c.at_least = true;
        c.refusal = PERM_UNSUPPORTED;
        c.why_not = formatted("would hold {}2^{:.0f} counts of {} kinds of lines, at most 2^{:.0f} can be",
                              std::isfinite(states) ? "" : "more than ", std::min(1000.0, std::log2(states)),
                              order.size(), std::log2(hermite_most_states));
        task.judge(c);
        task.candidates.push_back(std::move(c));
        return;
    }
    const auto plan = std::make_shared<const HermitePlan>(plan_hermite(task.a, task.kinds));
    c.plan = plan;
    c.cost = hermite_cost(*plan, task.values.nonnegative);
    task.add(std::move(c), hermite_slowdown(task.values.numbers, task.values.nonnegative, task.bits));
}

std::string saved_hermite(const EnginePlan & /*plan*/, bool /*with_predictions*/) { return {}; }

std::shared_ptr<const EnginePlan> restored_hermite(std::string_view bytes, const PlanSource &of) {
    require(bytes.empty() && of.a.one_sided &&
                hermite_states(hermite_order(of.a, of.kinds)) <= hermite_most_states,
            "kinds of lines for engine hermite");
    return std::make_shared<const HermitePlan>(plan_hermite(of.a, of.kinds));
}

void check_hermite(const Candidate &c) {
    const auto *plan = plan_as<HermitePlan>(c);
    require(plan && !plan->kinds.empty() && !c.on_gpu, "no lines for engine hermite");
}

} // namespace libperm
