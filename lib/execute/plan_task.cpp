#include "lib/execute/plan_task.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/json.hpp"
#include "lib/base/system.hpp"
#include "lib/execute/execute.hpp"
#include "lib/input/matrix.hpp"
#include "lib/number/scaled.hpp"
#include "lib/plan/engines.hpp"
#include "lib/saved/bytes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

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

namespace {

// If it is there.
std::optional<Plan> plan_of_checkpoint(const InputPattern &input, const Options &options) {
    const std::optional<std::string> kept = plan_in_checkpoint(options, TaskIdentity::plan);
    if (!kept) return {};
    Plan plan;
    try {
        plan = plan_of(*kept, options);
        if ((plan.options.modulus != 0 || options.modulus != 0) && !is_same_precision(plan.options, options))
            throw Error(PERM_BAD_OPTION, "it is of residues, or of other ones: ask for the same precision");
    } catch (const Error &error) { // options that it was not made with
        if (error.status() == PERM_CANCELLED || error.status() == PERM_REFUSED_TIME) throw;
        throw Error(error.status(), formatted("the checkpoint {}: {}; or name another file",
                                              options.checkpoint, error.what()));
    }
    if (difference(plan.input, input)) fail_foreign(options.checkpoint, "another matrix");
    return plan;
}

} // namespace

Plan make_kept_plan(InputPattern input, const Options &options, const Values &values, GpuStart start) {
    if (std::optional<Plan> kept = plan_of_checkpoint(input, options)) return std::move(*kept);
    return make_plan(std::move(input), options, values, start);
}

namespace {

constexpr std::size_t digits = 6;

Json number(const Scaled &x) { return Json{{"mantissa", x.mantissa}, {"exp2", x.exp2}}; }

KeptTask task_of(const std::string &file) {
    std::optional<KeptFile<KeptTask>> kept = read_kept_task(file);
    if (!kept) throw Error(PERM_BAD_OPTION, formatted("there is no checkpoint {}", file));
    return std::move(kept->content);
}

} // namespace

std::string checkpoint_text(const std::string &file) {
    const KeptTask task = task_of(file);
    const KeptAbout &about = task.about;
    const KeptProgress &done = task.progress;
    const bool is_estimate = task.kind == TaskIdentity::estimate;
    std::string text =
        formatted("{}: {} a matrix of order {}, {} entries\n", file,
                  task.kind == TaskIdentity::plan ? "of" : task.kind + " of", about.n, about.entries);
    text += formatted("{} {}\n", is_estimate ? "method    " : "engine    ", about.way);
    text += formatted("done       {:.2f} %, {} parts, in {}\n", 100 * done.fraction, done.pieces.size(),
                      readable_seconds(done.seconds));
    if (about.samples > 0)
        text += formatted("so far     {} samples: between {} and {}\n", about.samples,
                          to_text(about.lower, digits), to_text(about.upper, digits));
    text += done.is_answered ? "finished: the same command gives the answer again at once\n"
            : !is_estimate && done.fraction > 0.9999
                ? "left       a second run in more precise numbers, perhaps: the same command goes on\n"
                : formatted("left       {}, as fast as so far: the same command goes on\n",
                            readable_seconds(done.seconds_left(about.seconds)));
    return text;
}

std::string checkpoint_json(const std::string &file) {
    const KeptTask task = task_of(file);
    const KeptAbout &about = task.about;
    const KeptProgress &done = task.progress;
    Json json{
        {"checkpoint", file},        {"n", about.n},
        {"nnz", about.entries},      {task.kind == TaskIdentity::estimate ? "method" : "engine", about.way},
        {"fraction", done.fraction}, {"parts", done.pieces.size()}};
    if (task.kind == TaskIdentity::estimate) {
        json["samples"] = about.samples;
        json["lower"] = number(about.lower);
        json["upper"] = number(about.upper);
    }
    json["seconds"] = done.seconds;
    json["seconds_left"] = done.seconds_left(about.seconds);
    json["finished"] = done.is_answered;
    return json.written();
}

} // namespace libperm
