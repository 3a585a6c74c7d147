#include "lib/marginals/batch.hpp"

#include "lib/run/naming_matrix.hpp"
#include "lib/run/numbered_sum.hpp"
#include "lib/run/run_control.hpp"
#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>

namespace libperm {
namespace {

constexpr double of_a_piece = 1e6; // multiply-adds: about half a millisecond

} // namespace

void marginals_of_batch(const MarginalsPlan &of, const Marginals &marginals, const MarginalsBatch &batch,
                        MarginalNumbers to, RunControl &control,
                        const std::function<void(std::int64_t k, const MatchingSum &)> &tell) {
    const std::int64_t count = batch.count;
    check_stride(of.plan.input, batch.stride, count);
    if (count == 0) return;
    const auto apart = batch.stride * static_cast<std::int64_t>(size_of(of.plan.input.value_type));
    control.begin(static_cast<double>(count), 0);
    const auto at_once = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(of_a_piece / (marginals.operations() + 1)), 1, count);
    const std::int64_t group = marginals.by_sets() ? at_once : 1;
    const auto one = [&](std::int64_t k, Marginals::Work &work) {
        RunControl part(control, 0, RunControl::OwnMemory());
        const void *of_matrix = batch.values ? static_cast<const char *>(batch.values) + k * apart : nullptr;
        const std::int64_t place = k * marginals.count();
        tell(k, marginals.run(of, of_matrix, work,
                              {to.marginals + place, to.bounds ? to.bounds + place : nullptr}, part));
    };
    if (marginals.takes_much(of, control)) {
        Marginals::Work work;
        for (std::int64_t k = 0; k < count; ++k) {
            naming_matrix(k, true, [&] { one(k, work); });
            control.advance(1);
        }
        return;
    }
    const NumberedPieces pieces = NumberedPieces::of_length(at(count), at(group));
    parallel_for(pieces.count(), [&](std::uint64_t piece) {
        Marginals::Work work;
        const NumberRange some = pieces[piece];
        for (std::uint64_t m = some.first; m < some.last; ++m) {
            const auto k = static_cast<std::int64_t>(m);
            naming_matrix(k, true, [&] { one(k, work); });
        }
        control.advance(some.size());
    });
}

} // namespace libperm
