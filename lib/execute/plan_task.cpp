#include "lib/execute/plan_task.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/execute/execute.hpp"
#include "lib/input/digest.hpp"
#include "lib/plan/engines.hpp"
#include "lib/saved/bytes.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr std::int64_t most_shards = 1 << 16;
// Of one, in seconds: what it takes to start comes to little beside it. On a GPU that is some milliseconds.
constexpr double least_seconds = 0.01, least_on_gpu = 0.1;

// What a block is divided into, by its chosen engine.
double pieces_of(const BlockPlan &plan) {
    const Candidate &choice = plan.best();
    if (choice.cost.serial_seconds < small_block) return 1;
    return info_of(choice.engine).pieces(choice);
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
    const double least = plan.gpu_seconds > plan.serial_seconds / 2 ? least_on_gpu : least_seconds,
                 by_time = std::floor(plan.serial_seconds / least);
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

TaskIdentity PlanTask::identity() const {
    return {TaskIdentity::plan,
            {{digest_of(plan_.input), "another matrix"},
             {digest_of(values_), "other values"},
             {digest_of(plan_), "another plan"}}};
}

KeptAbout PlanTask::about() const {
    const BlockPlan *block = plan_.main_block();
    KeptAbout it;
    it.n = plan_.n();
    it.entries = plan_.input.pattern.nnz();
    it.way = block ? name_of(block->best()) : "none";
    it.seconds = plan_.seconds;
    return it;
}

std::string PlanTask::plan() const { return bytes_of(plan_); }

bool PlanTask::is_plan(const std::string &bytes) const {
    return bytes == plan() || digest_of(plan_of(bytes, Options())) == digest_of(plan_);
}

void PlanTask::require_shards() const {
    if (const char *why = why_planned_anew(plan_, values_))
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("{}, and the plan was made for others: shards need a plan that was made with "
                              "values of this kind, so give them to perm_plan_create",
                              why));
    if (plan_.options.equal_chunks)
        throw Error(PERM_UNSUPPORTED, "chunks \"equal\" are not the same on every machine, so they cannot be "
                                      "shared out: use chunks \"ceg\"");
}

Outcome PlanTask::run(PieceStore *store, const Told &) const { return execute(plan_, values_, store); }

void PlanTask::run_shard(const Shard &, PieceStore &store) const { execute_once(plan_, values_, &store); }

} // namespace libperm
