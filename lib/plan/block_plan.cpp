#include "lib/plan/block_plan.hpp"

#include "jit/text/text.hpp"
#include "lib/plan/engines.hpp"
#include "lib/run/call.hpp"
#include "lib/run/escalation.hpp"
#include "lib/run/proposals.hpp"
#include "preprocess/limits.hpp"

#include <algorithm>

namespace libperm {
namespace {

// The cheapest candidate that no limit forbids.
void choose(BlockPlan &plan, const PlanMachine &machine, Engine named) {
    if (plan.candidates.empty()) {
        plan.candidates.emplace_back();
        plan.candidates.front().engine = named == Engine::none ? engine_for(Goal::hafnian) : named;
        plan.candidates.front().refusal = PERM_UNSUPPORTED;
        plan.candidates.front().why_not = "runs on the CPU for hafnians: use device auto or cpu";
    }
    std::stable_sort(plan.candidates.begin(), plan.candidates.end(),
                     [](const Candidate &x, const Candidate &y) { return weight(x) < weight(y); });
    const auto possible = std::find_if(plan.candidates.begin(), plan.candidates.end(),
                                       [](const Candidate &c) { return c.refusal == PERM_OK; });
    const Candidate &first = plan.candidates.front();
    if (possible == plan.candidates.end()) {
        plan.refusal = first.refusal;
        for (const Candidate &c : plan.candidates) // what a limit forbids is not impossible
            if (plan.refusal == PERM_UNSUPPORTED && !first.lacks_gpu && !c.lacks_gpu)
                plan.refusal = c.refusal;
        if (first.lacks_gpu) {
            plan.refusal_text = formatted("n = {}, {} entries: this {}{}", plan.n, plan.nnz, first.why_not,
                                          machine.is_elsewhere() ? "" : "; device auto does without one");
            plan.why =
                formatted("refused: {}. Times are predicted for an {}", first.why_not, machine.gpu().name);
            return;
        }
        const bool is_impossible =
            std::all_of(plan.candidates.begin(), plan.candidates.end(),
                        [](const Candidate &c) { return c.refusal == PERM_UNSUPPORTED; });
        plan.refusal_text =
            formatted("{} (n = {}, {} entries)",
                      is_impossible ? "impossible here" : "too large for the limits", plan.n, plan.nnz);
        for (const Candidate &c : plan.candidates)
            plan.refusal_text += formatted("\n  engine {} {}", name_of(c), c.why_not);
        if (!is_impossible)
            plan.refusal_text += "\n  raise a limit: memory_limit_bytes (of the CPU) or time_limit_seconds";
        plan.why = is_impossible ? "refused: no engine that was asked for can do it"
                                 : "refused: no engine keeps within the limits";
        return;
    }
    plan.chosen = static_cast<int>(possible - plan.candidates.begin());
    const bool fastest =
        std::none_of(plan.candidates.begin(), plan.candidates.end(), [&](const Candidate &c) {
            return c.cost.serial_seconds < possible->cost.serial_seconds;
        });
    if (&*possible != &first)
        plan.why = formatted("{}: the best within the limits; {} {}", name_of(*possible), name_of(first),
                             first.why_not);
    else
        plan.why = name_of(first) +
                   (fastest ? ": the least predicted time"
                    : sums_subsets(first.engine)
                        ? ": the least predicted time once its kernel is kept"
                        : ": predicted to take not much longer than a sum over subsets, and more accurate");
}

// Whether some engine computes the block in less time than others take to look at it, which is mostly the
// first order of rows that the frontier tries.
bool is_settled(const Proposals &task) {
    constexpr double looking = 5e-9; // seconds for an entry and a row
    const double seconds = looking * task.a.rows * static_cast<double>(task.a.nnz());
    return std::any_of(task.candidates.begin(), task.candidates.end(), [seconds](const Candidate &c) {
        return c.refusal == PERM_OK && c.cost.serial_seconds < seconds;
    });
}

// The one that was asked for has another goal.
Candidate refused_for_its_goal(Engine engine, const Pattern &a) {
    Candidate c;
    c.engine = engine;
    c.refusal = PERM_UNSUPPORTED;
    c.why_not =
        a.one_sided
            ? "computes permanents alone, no hafnians: use engine auto"
            : "computes hafnians alone, no permanents, which those of graphs of two sides are: use engine "
              "auto";
    return c;
}

// Only what may be run is kept, or shown: programs are large.
void drop_plans_of_no_use(BlockPlan &plan) {
    const Candidate *choice = plan.choice(), *best = &plan.best();
    for (Candidate &c : plan.candidates) {
        const bool is_shown =
            (&c == best && (c.on_gpu || has_kernel(c.engine))) || (form_facts(c) && form_facts(c)->has_tree);
        const bool may_follow = choice && has_kernel(choice->engine) && c.second && !has_kernel(c.engine);
        if (&c != choice && !is_shown && !may_follow) c.plan = nullptr;
    }
}

} // namespace

std::int64_t bytes_of(const BlockPlan &plan) {
    std::int64_t bytes = sizeof plan;
    for (const Candidate &c : plan.candidates)
        bytes += std::int64_t{sizeof c} + (c.plan ? c.plan->bytes() : 0);
    return bytes;
}

BlockPlan plan_block(const Pattern &a, const LineClasses &kinds, const BlockValues &values,
                     const Options &options, double effort) {
    const Charge charge(&call().memory(), 2 * bytes_of(a) + 8 * a.nnz()); // while it is transposed
    const Pattern at = transpose(a).pattern;
    Proposals task(a, at, kinds, values, options, effort);
    task.outlook = [&task, known = std::optional<Outlook>()]() mutable {
        if (known) return *known;
        known = Outlook{};
        for (const EngineInfo &engine : engine_table()) {
            if (!engine.outlook || !serves(engine.id, task.a)) continue;
            known = better(*known, engine.outlook(task, engine.id));
        }
        return *known;
    };
    std::vector<const EngineInfo *> engines;
    for (const EngineInfo &engine : engine_table())
        if (serves(engine.id, a)) engines.push_back(&engine);
    if (options.names_engine() && !serves(options.engine, a))
        task.candidates.push_back(refused_for_its_goal(options.engine, a));
    for (const EngineInfo *engine : engines)
        if (engine->by_structure) engine->propose(task, engine->id);
    const bool others_are_asked = !is_settled(task);
    for (const EngineInfo *engine : engines)
        if (others_are_asked && !engine->by_structure) engine->propose(task, engine->id);
    for (const EngineInfo *engine : engines)
        if (others_are_asked && engine->propose_at_last) engine->propose_at_last(task, engine->id);

    BlockPlan plan;
    plan.n = a.rows;
    plan.nnz = a.nnz();
    plan.nonnegative = values.nonnegative;
    plan.numbers = values.numbers;
    plan.candidates = std::move(task.candidates);
    choose(plan, task.machine, options.names_engine() ? options.engine : Engine::none);
    if (!others_are_asked) plan.why += ", and less than it takes to look at other engines";
    for (Candidate &c : plan.candidates) { // the same, however many threads there are
        const double seconds = c.on_gpu ? c.seconds : seconds_on(usual_threads, c.cost.serial_seconds);
        c.second = c.refusal == PERM_OK && seconds < second_run_seconds;
    }
    drop_plans_of_no_use(plan);
    return plan;
}

} // namespace libperm
