#include "lib/execute/shards.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/seal.hpp"
#include "lib/execute/execute.hpp"
#include "lib/plan/engines.hpp"
#include "lib/run/piece_fields.hpp"
#include "lib/run/run_control.hpp"
#include "lib/run/shards_there.hpp"
#include "lib/saved/bytes.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr std::int64_t most_shards = 1 << 16;
constexpr double least_seconds = 0.01; // of one: what it takes to start comes to little beside it

constexpr Seal seal{"PERMPART", 2, "the partial result", "perm_plan_run_shard",
                    "run its shard again with this one"};

struct Partial {
    std::string plan, values; // digests
    std::uint64_t count = 0, number = 0;
    std::vector<Piece> pieces;

    template <class Archive> void serialize(Archive &ar) { ar(plan, values, count, number, pieces); }
};

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
    for (const auto &[key, block] : plan.block_plans) {
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
    return sealed(seal, written(Partial{digest_of(plan), digest_of(values), shard.count, shard.number,
                                        store.pieces()}));
}

Outcome combine(const Plan &plan, const Values &values, std::span<const std::string_view> partials,
                RunControl &control) {
    require_as_planned(plan, values);
    const ShardCount shards = shards_of(plan);
    const std::string plan_digest = digest_of(plan), values_digest = digest_of(values);
    ShardsThere there(shards.count);
    PieceStore store(&control.memory());
    for (std::size_t k = 0; k < partials.size(); ++k) {
        const auto require = [k](bool holds, const char *what) {
            if (!holds)
                throw Error(PERM_BAD_ARGUMENT, formatted("partial result {} is {}: leave it out, and run the "
                                                         "shards that are missing with this plan",
                                                         k, what));
        };
        Partial partial;
        try {
            partial = content_of<Partial>(seal, partials[k]);
        } catch (const Error &error) {
            throw Error(error.status(), formatted("partial result {}: {}", k, error.what()));
        }
        require(partial.plan == plan_digest, "one of another plan");
        require(partial.values == values_digest, "one of other values");
        require(partial.count == there.count() && partial.number < partial.count, "of no shard of the plan");
        there.take(partial.number);
        for (Piece &piece : partial.pieces) store.put(std::move(piece));
    }
    there.require_all();
    Outcome outcome = execute(plan, values, control, &store);
    control.finish();
    return outcome;
}

} // namespace libperm
