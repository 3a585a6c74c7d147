#include "lib/execute.hpp"

#include "lib/error.hpp"
#include "lib/frontier.hpp"
#include "lib/run_control.hpp"
#include "lib/ryser.hpp"
#include "lib/system.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <oneapi/tbb/task_arena.h>

namespace libperm {
namespace {

Outcome exactly(double value) {
    Outcome outcome;
    set_value(outcome, value, 0, 0);
    return outcome;
}

// A plan keeps explicit zeros; the values may leave fewer entries than a perfect matching needs.
bool zeros_leave_no_matching(const Plan &plan, std::span<const double> values) {
    if (std::find(values.begin(), values.end(), 0.0) == values.end()) return false;
    Pattern nonzero = plan.input.pattern;
    std::vector<double> kept(values.begin(), values.end());
    drop_zeros(nonzero, kept);
    return maximum_matching(nonzero).size < plan.n();
}

Outcome run_engine(const Plan &plan, const Candidate &choice, std::span<const double> values) {
    RunControl control(plan.options);
    MemoryBudget memory(plan.options.memory_limit);
    if (choice.engine == Engine::ryser) {
        control.begin(choice.cost.subsets, choice.seconds);
        if (!plan.ryser.transposed) return run_ryser(plan.ryser, plan.input.pattern, values, control);
        std::vector<double> transposed(values.size());
        for (std::size_t k = 0; k < values.size(); ++k)
            transposed[k] = values[static_cast<std::size_t>(plan.transposed.source[k])];
        return run_ryser(plan.ryser, plan.transposed.pattern, transposed, control);
    }
    control.begin(choice.cost.operations, choice.seconds);
    Outcome outcome = run_frontier(
        choice.form, {plan.input.pattern, values, plan.frontier, control, memory, plan.options.threads});
    outcome.peak_bytes = memory.peak();
    return outcome;
}

} // namespace

Outcome execute(const Plan &plan, std::span<const double> values) {
    if (!plan.structure.empty()) return exactly(plan.structural_zero ? 0 : 1);
    if (plan.refusal != PERM_OK) throw Error(plan.refusal, plan.refusal_text);
    if (zeros_leave_no_matching(plan, values)) return exactly(0);
    return run_engine(plan, *plan.choice(), values);
}

void with_threads(int threads, const std::function<void()> &work) {
    oneapi::tbb::task_arena arena(std::min(threads, available_cores())); // TBB complains on stderr about more
    Handover enter, leave;
    const ArriveOnExit left{leave};
    enter.depart();
    arena.execute([&] {
        enter.arrive();
        const DepartOnExit done{leave};
        work();
    });
}

} // namespace libperm
