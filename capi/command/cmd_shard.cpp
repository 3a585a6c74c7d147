#include "commands.hpp"
#include "job.hpp"
#include "lib/base/durable_file.hpp"
#include "output.hpp"
#include "part_file.hpp"
#include "shard_run.hpp"

#include <fmt/core.h>

#include <utility>

namespace perm {
namespace {

using libperm::KeptFile;

// The part as far as it was done before, or a new one.
KeptFile<Part> begun_part(const Options &options, const Input &input) {
    if (std::optional<KeptFile<Part>> found = read_begun_part(options.output)) {
        const Part &part = found->content;
        if (part.of != options.of || part.index != options.index)
            fail_other(options, part, fmt::format("it is index {} of {}", part.index, part.of));
        return std::move(*found);
    }
    require_folder_of(options.output);
    Part part;
    part.matrix = input.name();
    part.n_rows = input.csr().n_rows;
    part.n_cols = input.csr().n_cols;
    part.nnz = input.csr().nnz;
    part.of = options.of;
    part.index = options.index;
    return {std::move(part)};
}

} // namespace

void run_shard(const Options &options) {
    if (options.of < 1)
        throw Error(PERM_BAD_OPTION, fmt::format("--of {}: there is 1 part at least", options.of));
    if (options.index < 0 || options.index >= options.of)
        throw Error(PERM_BAD_OPTION, fmt::format("--index {} of --of {}: the parts are numbered from 0 to {}",
                                                 options.index, options.of, options.of - 1));
    const Stopwatch watch;
    const Input input(options);
    KeptFile<Part> part = begun_part(options, input);
    ShardRun run(options, input, part, watch);
    if (!libperm::exists(options.output)) write_part_file(options.output, part.content);
    const bool was_done = run.is_done() && run.size() > 0;
    run.run();
    forget_previous(options.output);
    if (options.quiet) return;
    if (run.size() == 0)
        return write_stdout(fmt::format("{}: index {} of {} is done: it has nothing to do, for there {} {} "
                                        "shard{} in all (--of {} is as good)",
                                        options.output, options.index, options.of,
                                        run.shards() == 1 ? "is" : "are", run.shards(),
                                        run.shards() == 1 ? "" : "s", run.shards()));
    write_stdout(fmt::format("{}: index {} of {} {}: {} of {} {} shards", options.output, options.index,
                             options.of, was_done ? "was done before" : "is done", run.size(),
                             options.estimate    ? "the estimate's"
                             : options.matchings ? "the numbers'"
                                                 : "the plan's",
                             run.shards()));
}

} // namespace perm
