#include "lib/execute/shards.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/execute/execute.hpp"
#include "lib/plan/engines.hpp"
#include "lib/run/parts.hpp"
#include "lib/run/run_control.hpp"
#include "lib/saved/bytes.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr std::int64_t most_shards = 1 << 16;
constexpr double least_seconds = 0.01; // of one: what it takes to start comes to little beside it

// What a block is divided into, by its chosen engine.
double pieces_of(const BlockPlan &plan) {
    const Candidate &choice = plan.best();
    if (choice.cost.serial_seconds < small_block) return 1;
    return info_of(choice.engine).pieces(choice);
}

void require_as_planned(const Plan &plan, const Values &values) {
    if (const char *why = why_planned_anew(plan, values))
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("{}, and the plan was made for others: shards need a plan that was made with "
                              "values of this kind, so give them to perm_plan_create",
                              why));
    if (plan.options.equal_chunks)
        throw Error(PERM_UNSUPPORTED, "chunks \"equal\" are not the same on every machine, so they cannot be "
                                      "shared out: use chunks \"ceg\"");
}

} // namespace

ShardCount shards_of(const Plan &plan) {
    double pieces =
        std::max(0.0, static_cast<double>(plan.blocks) - static_cast<double>(plan.block_plans.size()));
    double most = 0;
    for (const auto &[lines, block] : plan.block_plans) {
        const double own = pieces_of(block);
        pieces += own;
        most = std::max(most, own);
    }
    const double by_time = std::floor(plan.serial_seconds / least_seconds);
    const double limit = std::min({pieces, by_time, static_cast<double>(most_shards)});
    // As many pieces of the largest block in each.
    double count = most;
    if (count > limit) count = std::ceil(most / std::exp2(std::ceil(std::log2(most / std::max(limit, 1.0)))));
    if (most < limit / 2) count = limit;
    ShardCount shards;
    shards.count = std::max<std::int64_t>(1, static_cast<std::int64_t>(count));
    shards.seconds = plan.serial_seconds / static_cast<double>(shards.count);
    return shards;
}

std::string digest_of(const Values &values) {
    std::string bytes(reinterpret_cast<const char *>(values.real.data()),
                      values.real.size() * sizeof(double));
    for (const Gaussian &x : values.wide) bytes += x.re.get_str(62) + ' ' + x.im.get_str(62) + '\n';
    return digest_of_bytes(bytes);
}

TaskIdentity identity_of(const Plan &plan, const Values &values) {
    return {TaskIdentity::plan, {{digest_of(plan), "another plan"}, {digest_of(values), "other values"}}};
}

std::string run_shard(const Plan &plan, const Values &values, std::int64_t number, RunControl &control) {
    const ShardCount shards = shards_of(plan);
    if (number < 0 || number >= shards.count)
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("there is no shard {}: the plan has {}, counted from 0", number, shards.count));
    require_as_planned(plan, values);
    const Shard shard{static_cast<std::uint64_t>(shards.count), static_cast<std::uint64_t>(number)};
    PieceStore store(&control.memory(), shard);
    execute_once(plan, values, control, &store);
    control.finish();
    return bytes_of_part(identity_of(plan, values), shard.number, store);
}

Outcome combine(const Plan &plan, const Values &values, std::span<const std::string_view> partials,
                RunControl &control) {
    require_as_planned(plan, values);
    PieceStore store(&control.memory());
    take_parts(identity_of(plan, values), shards_of(plan).count, LaterShards::none, partials, store);
    Outcome outcome = execute(plan, values, control, &store);
    control.finish();
    return outcome;
}

} // namespace libperm
