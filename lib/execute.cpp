#include "lib/execute.hpp"

#include "lib/error.hpp"
#include "lib/evaluation.hpp"
#include "lib/system.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <oneapi/tbb/task_arena.h>

namespace libperm {

Outcome execute(const Plan &plan, std::span<const double> values) {
    // Numbers of both signs take more memory than was planned with.
    if (plan.nonnegative && std::any_of(values.begin(), values.end(), [](double x) { return x < 0; }))
        return execute(make_plan(plan.input, plan.options, values), values);
    if (plan.refusal != PERM_OK) {
        // With values there may be repeated rows and columns, and less to do.
        if (plan.values_known || !plan.options.passes.merging) throw Error(plan.refusal, plan.refusal_text);
        const Plan with_values = make_plan(plan.input, plan.options, values);
        return execute(with_values, values);
    }
    RunControl control(plan.options);
    control.begin(plan.serial_seconds, plan.seconds);
    MemoryBudget memory(plan.options.memory_limit);
    return Evaluation(plan, control, memory).run(root_block(plan.input, values));
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
