#include "lib/periodic/answers/answers.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/periodic/answers/float_terms.hpp"
#include "lib/periodic/answers/periodic_task.hpp"

namespace libperm {

std::vector<Outcome> periodic_terms(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                                    RunControl &control, double instant_seconds) {
    require_length(plan, first);
    if (count < 0) throw Error(PERM_BAD_ARGUMENT, formatted("count is {}: it must be 0 or more", count));
    if (count == 0) return {};
    return PeriodicTask(plan, first, count, control, instant_seconds).run(nullptr, control, {});
}

double periodic_seconds(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                        double instant_seconds) {
    const Options &options = plan.options;
    const bool is_exact = options.precision == Precision::exact,
               is_open = options.precision == Precision::automatic;
    if (options.modulus != 0) return modular_seconds(plan, options.modulus, first, count) / options.threads;
    const double bits = most_bits(plan, first + count - 1),
                 exactly = exact_seconds(plan, first, count, bits) / options.threads;
    if (is_exact || (is_open && plan.integers && exactly <= instant_seconds)) return exactly;
    return float_seconds(plan, first, count, options.precision == Precision::dd) / options.threads;
}

} // namespace libperm
