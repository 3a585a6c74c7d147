#include "commands.hpp"
#include "job.hpp"
#include "lib/base/durable_file.hpp"
#include "output.hpp"
#include "part_file.hpp"
#include "shard_run.hpp"
#include "shard_work.hpp"

#include <fmt/core.h>

#include <limits>

namespace perm {
namespace {

void require_same(const Options &options, const PartFile &found, const PartFile &wanted) {
    const auto fail = [&](const std::string &what) { fail_other(options, what); };
    if (found.plan.pattern != wanted.plan.pattern) fail("another matrix, " + found.plan.matrix);
    if (!(found.values == wanted.values)) fail("other values");
    if (is_estimate(found) != options.estimate) fail(options.estimate ? "a computation" : "an estimate");
    if (found.of != wanted.of || found.index != wanted.index)
        fail(fmt::format("index {} of {}", found.index, found.of));
    if (!options.plan.empty() && found.plan.plan != read_plan_file(options.plan).plan)
        fail("another plan than " + options.plan);
}

// The part as far as it was done before, which goes on with its own plan; a new one is written with its plan,
// and that of an estimate once it is known that there can be one.
PartFile begun_part(const Options &options) {
    const Input input(options);
    PartFile part;
    part.plan = {input.name(), pattern_of(input.csr()), ""};
    part.values = values_of(input.csr());
    part.of = options.of;
    part.index = options.index;
    if (std::optional<PartFile> found = read_begun_part(options.output)) {
        require_same(options, *found, part);
        return *found;
    }
    require_folder_of(options.output);
    if (options.estimate) return part;
    Options to_plan = options; // its limit is for the shards
    to_plan.time_limit_seconds = std::numeric_limits<double>::infinity();
    const Cancellable cancellable;
    Progress progress(!options.quiet);
    part.plan.plan = make_plan(to_plan, input, progress).save();
    write_part_file(options.output, part);
    return part;
}

} // namespace

void run_shard(const Options &options) {
    if (options.of < 1)
        throw Error(PERM_BAD_OPTION, fmt::format("--of {}: there is 1 part at least", options.of));
    if (options.index < 0 || options.index >= options.of)
        throw Error(PERM_BAD_OPTION, fmt::format("--index {} of --of {}: the parts are numbered from 0 to {}",
                                                 options.index, options.of, options.of - 1));
    const Stopwatch watch;
    PartFile part = begun_part(options);
    ShardRun run(options, part, watch);
    if (options.estimate && !libperm::exists(options.output)) write_part_file(options.output, part);
    const bool was_done = run.is_done() && run.size() > 0;
    run.run();
    forget_previous(options.output);
    if (options.quiet) return;
    if (run.size() == 0)
        return write_stdout(fmt::format("{}: index {} of {} is done: it has nothing to do, for there {} {} "
                                        "shard{} in all (--of {} is as good)",
                                        options.output, part.index, part.of, run.shards() == 1 ? "is" : "are",
                                        run.shards(), run.shards() == 1 ? "" : "s", run.shards()));
    write_stdout(fmt::format("{}: index {} of {} {}: {} of {} {} shards", options.output, part.index, part.of,
                             was_done ? "was done before" : "is done", run.size(),
                             options.estimate ? "the estimate's" : "the plan's", run.shards()));
}

} // namespace perm
