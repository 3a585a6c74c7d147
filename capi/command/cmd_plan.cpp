// What makes a plan, and runs nothing of it.
#include "commands.hpp"
#include "job.hpp"
#include "lib/base/durable_file.hpp"
#include "lib/base/json.hpp"
#include "output.hpp"
#include "part_file.hpp"
#include "plot.hpp"
#include "progress.hpp"

#include <fmt/core.h>

#include <limits>

namespace perm {

void run_explain(const Options &options) {
    std::string terminal;
    if (!options.plot.empty()) { // what is wrong is said before anything long
        terminal = plot_terminal(options.plot);
        gnuplot("");
    }
    const Job job(options);
    if (!options.plot.empty()) {
        const std::string title = file_name(options);
        write_file(options.plot, gnuplot(plot_script(job.explain(PERM_FORMAT_PICTURE), title, terminal)));
    }
    if (options.json)
        write_stdout(job.explain(PERM_FORMAT_JSON));
    else
        write_stdout(in_command_terms(job.explain(PERM_FORMAT_TEXT)));
}

void run_plan(const Options &given) {
    Options options = given;
    require_folder_of(options.output);
    if (libperm::exists(options.output))
        load_plan_file(options.output, PERM_OPTS_INIT); // nothing else is overwritten
    // What a limit forbids in a plan stays forbidden, and this one is to be shared out.
    if (options.time_limit_seconds == 0) options.time_limit_seconds = std::numeric_limits<double>::infinity();
    const Job job(options);
    const auto about = libperm::Json::read(job.explain(PERM_FORMAT_JSON));
    if (about.flag("refused")) write_message("warning: this plan will be refused: " + about.text("why"));
    write_plan_file(options.output, job.plan());
    // What was saved is in blocks, as it is shared out.
    const auto saved =
        libperm::Json::read(load_plan_file(options.output, PERM_OPTS_INIT).explain(PERM_FORMAT_JSON));
    const std::int64_t count = saved.integer("shards");
    write_stdout(fmt::format("{}: the plan of {}, {} shard{}, {}{} on one thread or GPU", options.output,
                             file_name(options), count, count == 1 ? "" : "s", count == 1 ? "" : "each ",
                             in_words(saved.at("shard_seconds").number())));
}

void run_source(const Options &options) {
    const Job job(options);
    write_stdout(job.source(options.arch.empty() ? nullptr : options.arch.c_str()));
}

} // namespace perm
