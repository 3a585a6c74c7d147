// What computes nothing: plans, and what the library says of itself, of a checkpoint and of the folder of
// kernels.

#include "commands.hpp"
#include "job.hpp"
#include "lib/base/durable_file.hpp"
#include "lib/base/json.hpp"
#include "options.hpp"
#include "output.hpp"
#include "part_file.hpp"

#include <filesystem>
#include <fmt/core.h>
#include <limits>
#include <perm.hpp>
#include <system_error>

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

// What the library says of itself, of a checkpoint and of the folder of kernels.

namespace {

using libperm::Json;

// NULL: the default.
const char *folder_of(const Options &options) { return options.cache ? options.cache->c_str() : nullptr; }

std::string folder_name(const Options &options) {
    if (options.cache) return *options.cache;
    return Json::read(cache_describe(nullptr, PERM_FORMAT_JSON)).text("folder");
}

// Why a folder has nothing to remove, if that is not just that it is empty.
std::string why_none(const Options &options, const std::string &folder) {
    if (folder.empty()) return "no folder: no name was given";
    const Json about = Json::read(cache_describe(folder_of(options), PERM_FORMAT_JSON));
    if (about.find("why_not")) return fmt::format("{}: it is not used, {}", folder, about.text("why_not"));
    std::error_code none;
    return folder + (std::filesystem::exists(folder, none) ? "" : ": there is no such folder");
}

} // namespace

void run_info(const Options &options) {
    if (options.option_table)
        return write_stdout(options.json ? info(PERM_FORMAT_OPTIONS) : OptionTable().text());
    write_stdout(info(options.machine_here ? PERM_FORMAT_MACHINE
                      : options.json       ? PERM_FORMAT_JSON
                                           : PERM_FORMAT_TEXT));
}

void run_status(const Options &options) {
    write_stdout(checkpoint_describe(options.file, options.json ? PERM_FORMAT_JSON : PERM_FORMAT_TEXT));
}

void run_cache_list(const Options &options) {
    write_stdout(cache_describe(folder_of(options), options.json ? PERM_FORMAT_JSON : PERM_FORMAT_TEXT));
}

void run_cache_clear(const Options &options) {
    const std::string folder = folder_name(options);
    const std::int64_t removed = cache_clear(folder_of(options));
    if (options.json)
        write_stdout(Json{{"folder", folder}, {"removed", removed}}.written());
    else
        write_stdout(fmt::format("removed {} file{} from {}", removed, removed == 1 ? "" : "s",
                                 removed == 0 ? why_none(options, folder) : folder));
}

void run_cache_path(const Options &options) {
    const std::string folder = folder_name(options);
    write_stdout(options.json ? Json{{"folder", folder}}.written() : folder);
}

} // namespace perm
