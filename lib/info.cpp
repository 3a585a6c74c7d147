#include "lib/info.hpp"

#include "lib/system.hpp"

#include <fmt/format.h>
#include <gmp.h>
#include <mpfr.h>
#include <nlohmann/json.hpp>
#include <oneapi/tbb/version.h>
#include <perm.h>

namespace libperm {
namespace {

using Json = nlohmann::ordered_json;

Json collect() {
    Json j;
    j["version"] = PERM_VERSION_STRING;
#ifdef __clang__
    j["compiler"] = "clang " __clang_version__;
#else
    j["compiler"] = "gcc " __VERSION__;
#endif
    j["engines"] = {"ryser", "frontier"};
    j["devices"] = {"cpu"};
    j["processor"] = processor_name();
    j["cores"] = available_cores();
    j["memory_bytes"] = machine_memory();
    j["libraries"] = {{"oneTBB", TBB_runtime_version()}, {"MPFR", mpfr_get_version()}, {"GMP", gmp_version}};
    return j;
}

} // namespace

std::string info_json() { return collect().dump(2); }

std::string info_text() {
    const Json j = collect();
    const auto text = [&j](const char *key) { return j[key].get<std::string>(); };
    return fmt::format("libperm {} (compiled by {})\nengines    ryser, frontier\ndevices    cpu\n"
                       "processor  {}, {} cores\nmemory     {}\nlibraries  oneTBB {}, MPFR {}, GMP {}\n",
                       text("version"), text("compiler"), text("processor"), j["cores"].get<int>(),
                       readable_bytes(static_cast<double>(j["memory_bytes"].get<std::int64_t>())),
                       j["libraries"]["oneTBB"].get<std::string>(), j["libraries"]["MPFR"].get<std::string>(),
                       j["libraries"]["GMP"].get<std::string>());
}

} // namespace libperm
