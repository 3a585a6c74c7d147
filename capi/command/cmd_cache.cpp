#include "commands.hpp"
#include "output.hpp"

#include <perm.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace perm {
namespace {

using Json = nlohmann::ordered_json;

// NULL: the default.
const char *folder_of(const Options &options) { return options.cache ? options.cache->c_str() : nullptr; }

std::string folder_name(const Options &options) {
    if (options.cache) return *options.cache;
    return Json::parse(cache_describe(nullptr, PERM_FORMAT_JSON)).at("folder").get<std::string>();
}

// Folders' names need not be UTF-8; JSON must be.
std::string dump(const Json &object) { return object.dump(2, ' ', false, Json::error_handler_t::replace); }

} // namespace

void run_cache_list(const Options &options) {
    write_stdout(cache_describe(folder_of(options), options.json ? PERM_FORMAT_JSON : PERM_FORMAT_TEXT));
}

void run_cache_clear(const Options &options) {
    const std::string folder = folder_name(options);
    const std::int64_t removed = cache_clear(folder_of(options));
    if (options.json)
        write_stdout(dump({{"folder", folder}, {"removed", removed}}));
    else
        write_stdout(fmt::format("removed {} file{} from {}", removed, removed == 1 ? "" : "s",
                                 folder.empty() ? "no folder: no name was given" : folder));
}

void run_cache_path(const Options &options) {
    const std::string folder = folder_name(options);
    write_stdout(options.json ? dump({{"folder", folder}}) : folder);
}

} // namespace perm
