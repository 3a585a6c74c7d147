#include "capi/mpi/root.hpp"

#include "jit/text/text.hpp"
#include "lib/base/json.hpp"
#include "lib/base/system.hpp"

#include <limits>
#include <utility>

namespace libperm::mpi {
namespace {

// As a rank's task is made: what is kept is kept by rank 0, and limits are those of all ranks.
perm_opts of_task(perm_opts opts, const MachineShare &share, Watch &watch) {
    if (opts.checkpoint && *opts.checkpoint) opts.checkpoint_seconds = 0;
    opts.checkpoint = nullptr;
    opts.time_limit_seconds = std::numeric_limits<double>::infinity(); // see refuse_what_takes_too_long
    if (opts.memory_limit_bytes == 0) opts.memory_limit_bytes = share.memory_bytes;
    opts.progress = nullptr; // the ranks' is told
    opts.cancel = Watch::is_to_stop;
    opts.cancel_user = &watch;
    return opts;
}

} // namespace

Root::Root(Asked asked, const perm_opts &opts, const MachineShare &share, Watch &watch)
    : asked_(std::move(asked)),
      opts_(of_task(opts, share, watch)),
      watch_(watch),
      kept_(opts.checkpoint ? opts.checkpoint : "", opts.checkpoint_seconds) {
    make();
    const perm::Task task = perm::Task::load(bytes_, opts_);
    const Json about = Json::read(task.explain(PERM_FORMAT_JSON));
    is_on_gpu_ = about.at("device") == "gpu";
    shards_ = task.shards();
    serial_seconds_ = task.shard_seconds() * static_cast<double>(shards_);
    kept_.require_of(shards_);
    kept_.begin(bytes_, about);
    seconds_plan_ = watch_.seconds();
}

// What a checkpoint holds may be anything; where any machine makes the same task, it is made anew.
void Root::make() {
    const std::string &kept = kept_.task();
    if (kept.empty() || !asked_.matrix) bytes_ = asked_.save(opts_);
    if (kept.empty() || bytes_ == kept) return;
    if (!asked_.matrix) kept_.fail_foreign();
    const perm::Task task = perm::Task::load(kept, opts_);
    if (perm_task_check_matrix(task.raw(), asked_.matrix) != PERM_OK) kept_.fail_foreign();
    bytes_ = kept;
}

void Root::refuse_what_takes_too_long(double limit, std::int64_t ranks, std::int64_t threads) const {
    constexpr double day = 86400;
    const double most = limit > 0 ? limit : day;
    const std::int64_t at_once = is_on_gpu_ ? ranks : threads;
    const double seconds = serial_seconds_ / static_cast<double>(at_once);
    if (kept_.is_wanted() || seconds <= most) return;
    throw Error(PERM_REFUSED_TIME,
                formatted("predicted to take {} on {} {}{}, and the limit is {}: allow more with "
                          "time_limit_seconds, name a checkpoint, or take more ranks",
                          readable_seconds(seconds), at_once, is_on_gpu_ ? "GPU" : "thread",
                          at_once == 1 ? "" : "s", readable_seconds(most)));
}

void Root::combine(const Partials &partials) {
    perm_opts opts = opts_;
    opts.time_limit_seconds = watch_.seconds_left(); // for a second run, or samples that are still missing
    const perm::Task task = perm::Task::load(bytes_, opts);
    std::vector<std::string> all;
    for (const auto &[shard, bytes] : partials) all.push_back(bytes);
    const std::vector<perm_partial> view = perm::view_of(all);
    check(perm_task_combine(task.raw(), view.data(), std::ssize(view), &asked_.answer));
}

} // namespace libperm::mpi
