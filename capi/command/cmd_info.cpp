// What the library says of itself, of a checkpoint and of the folder of kernels.
#include "commands.hpp"
#include "lib/base/json.hpp"
#include "option_table.hpp"
#include "output.hpp"

#include <fmt/core.h>
#include <perm.hpp>

#include <filesystem>
#include <system_error>

namespace perm {
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
