#include "lib/marginals/batch.hpp"

#include "lib/run/naming_matrix.hpp"
#include "lib/run/run_control.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>

namespace libperm {
namespace {

constexpr double of_a_piece = 1e6; // multiply-adds: about half a millisecond

} // namespace

void marginals_of_batch(
    const Plan &plan, const TapePlan *direct, const LazyGradient &derivatives, const Marginals &marginals,
    const void *values, std::int64_t stride, std::int64_t count, double *to, double *bounds,
    RunControl &control,
    const std::function<void(std::int64_t k, const TapeAnswer &, const Outcome &)> &tell) {
    check_stride(plan.input, stride, count);
    if (count == 0) return;
    const auto apart = stride * static_cast<std::int64_t>(size_of(plan.input.value_type));
    control.begin(static_cast<double>(count), 0);
    const auto at_once = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(of_a_piece / (marginals.operations() + 1)), 1, count);
    const std::int64_t group = marginals.by_sets() ? at_once : 1;
    parallel_for(static_cast<std::uint64_t>((count + group - 1) / group), [&](std::uint64_t piece) {
        Marginals::Work work;
        const std::int64_t first = static_cast<std::int64_t>(piece) * group,
                           end = std::min(count, first + group);
        for (std::int64_t k = first; k < end; ++k)
            naming_matrix(k, [&] {
                RunControl part(control, 0, RunControl::OwnMemory());
                TapeAnswer value;
                Outcome outcome;
                const void *of_matrix = values ? static_cast<const char *>(values) + k * apart : nullptr;
                marginals.run(plan, direct, derivatives, of_matrix, work, to + k * marginals.count(),
                              bounds ? bounds + k * marginals.count() : nullptr, part, value, outcome);
                tell(k, value, outcome);
            });
        control.advance(static_cast<double>(end - first));
    });
}

} // namespace libperm
