#include "lib/estimates/estimate_shards.hpp"

#include "lib/run/parts.hpp"

namespace libperm {
TaskIdentity identity_of(const EstimatePlan &plan, const EstimateIdentity &identity) {
    return {TaskIdentity::estimate,
            {{identity.matrix, "another matrix"},
             {identity.options, "an estimate with other options"},
             {plan.digest(), "an estimate that was planned otherwise, as versions or machines differ"}}};
}

std::string run_estimate_shard(const EstimatePlan &plan, const EstimateIdentity &identity,
                               std::int64_t number, SampleDevices *devices, RunControl &control) {
    PieceStore store(&control.memory());
    plan.run_shard(number, store, devices, control);
    control.finish();
    return bytes_of_part(identity_of(plan, identity), static_cast<std::uint64_t>(number), store);
}

MatrixEstimate combine_estimate(const EstimatePlan &plan, const EstimateIdentity &identity,
                                std::span<const std::string_view> partials, RunControl &control,
                                const EstimatePlan::Told &told) {
    PieceStore store(&control.memory());
    take_parts(identity_of(plan, identity), plan.shards().count, LaterShards::some, partials, store);
    MatrixEstimate out = plan.run(&store, nullptr, control, told);
    control.finish();
    return out;
}

} // namespace libperm
