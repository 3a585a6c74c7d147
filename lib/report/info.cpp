#include "lib/plan/engines.hpp"
#include "lib/report/report.hpp"

#include "jit/compile/disk_cache.hpp"
#include "jit/compile/nvrtc.hpp"
#include "jit/driver/gpu.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/lanes/tree_walk.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/json.hpp"
#include "lib/base/system.hpp"
#include "lib/input/engine.hpp"
#include "lib/input/machine.hpp"
#include "lib/run/gpu_device.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <gmp.h>
#include <mpfr.h>
#include <oneapi/tbb/version.h>
#include <perm.h>
#include <string_view>

namespace libperm {
namespace {

std::string bytes_of(const Json &j, const char *key) {
    return readable_bytes(static_cast<double>(j.integer(key)));
}

// ---------------------------------------------------------------- GPUs

Json gpu_json(int ordinal) {
    Json j{{"ordinal", ordinal}};
    try {
        const GpuProperties p = Gpu::open(ordinal)->properties();
        j["name"] = p.name;
        j["compute_capability"] = formatted("{}.{}", p.compute_capability / 10, p.compute_capability % 10);
        j["multiprocessors"] = p.multiprocessors;
        j["fp64_lanes"] = p.fp64_lanes;
        j["memory_bytes"] = p.memory_bytes;
    } catch (const JitError &error) {
        j["why_not"] = error.what();
    }
    return j;
}

Json gpus_json() {
    Json list = Json::Array();
    const DriverStatus &driver = driver_status();
    for (int ordinal = 0; driver.found && ordinal < driver.gpus; ++ordinal) list.push_back(gpu_json(ordinal));
    return list;
}

// Status is the driver's or NVRTC's.
template <class Status> Json library_json(const Status &status) {
    Json j{{"found", status.found}, {"path", status.path}, {"version", status.version}};
    if (!status.found) j["why_not"] = status.why_not;
    return j;
}

std::string gpu_text(const Json &gpu) {
    if (gpu.find("why_not")) return gpu.text("why_not");
    return formatted("{}, compute capability {}, {} multiprocessors of {} FP64 lanes, {}", gpu.text("name"),
                     gpu.text("compute_capability"), gpu.integer("multiprocessors"),
                     gpu.integer("fp64_lanes"), bytes_of(gpu, "memory_bytes"));
}

std::string driver_text(const Json &driver) {
    return driver.flag("found") ? formatted("CUDA {}, {}", driver.text("version"), driver.text("path"))
                                : driver.text("why_not");
}

std::string nvrtc_text(const Json &nvrtc) {
    if (!nvrtc.flag("found")) return nvrtc.text("why_not");
    std::string text = formatted("{}, {}, for", nvrtc.text("version"), nvrtc.text("path"));
    for (const Json &architecture : nvrtc.array("architectures"))
        text += formatted(" sm_{}", architecture.integer());
    return text;
}

// ---------------------------------------------------------------- kernels on disk

std::string folder_or_default(const char *folder) { return folder ? folder : default_cache_folder(); }

std::string kept_text(std::int64_t kernels, std::int64_t orders, const std::string &bytes) {
    const auto counted = [](std::int64_t count, const char *what) {
        return count == 0 ? std::string() : formatted("{} {}{}", count, what, count == 1 ? "" : "s");
    };
    const std::string of_kernels = counted(kernels, "kernel"), of_orders = counted(orders, "order");
    if (kernels + orders == 0) return "no kernels";
    return of_kernels + (kernels > 0 && orders > 0 ? " and " : "") + of_orders + ", " + bytes;
}

// How much lies there; nothing is read, and nothing is removed.
Json cache_summary_json(const std::string &folder) {
    std::int64_t kernels = 0, orders = 0, bytes = 0;
    const CacheFolder opened = open_cache_folder(folder);
    if (opened.descriptor)
        for (const OwnFile &file : own_files(opened.descriptor)) {
            if (file.temporary) continue;
            ++(is_order_file(file.name) ? orders : kernels);
            bytes += file.bytes;
        }
    Json j{{"folder", folder}, {"kernels", kernels}, {"orders", orders}, {"bytes", bytes}};
    if (!opened.why_not.empty()) j["why_not"] = opened.why_not;
    return j;
}

// A key that somebody else has written may hold anything.
std::string shown(std::string_view text) {
    constexpr std::size_t most = 64;
    std::string printable(text.substr(0, most));
    for (char &c : printable)
        if (c < ' ' || c > '~') c = '?';
    return printable;
}

// What follows this word in the line of a kernel's key that begins with it, or "": what may be shown of it.
std::string key_field(std::string_view key, std::string_view word) {
    while (!key.empty()) {
        const std::string_view line = key.substr(0, key.find('\n'));
        key.remove_prefix(std::min(key.size(), line.size() + 1));
        if (line.starts_with(word) && line.substr(word.size()).starts_with(' '))
            return shown(line.substr(word.size() + 1));
    }
    return {};
}

std::string local_time(std::int64_t unix_seconds) {
    const auto when = static_cast<std::time_t>(unix_seconds);
    std::tm parts{};
    std::array<char, 32> text{};
    if (localtime_r(&when, &parts) == nullptr) return "?";
    return std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &parts) > 0 ? text.data() : "?";
}

Json entry_json(const CacheEntry &entry) {
    const std::string n = key_field(entry.key, "n");
    int number = 0;
    std::from_chars(n.data(), n.data() + n.size(), number);
    Json j{{"file", entry.file},
           {"bytes", entry.bytes},
           {"used_unix", entry.used_unix},
           {"engine", key_field(entry.key, "engine")},
           {"n", number}};
    if (is_order_file(entry.file))
        j["of"] = key_field(entry.key, "order of");
    else
        j["target"] = key_field(entry.key, "target");
    return j;
}

// The kernels and orders that can be read, the last used first.
Json cache_contents(const std::string &folder) {
    Json j{{"folder", folder}};
    if (const std::string why_not = open_cache_folder(folder).why_not; !why_not.empty())
        j["why_not"] = why_not;
    std::int64_t bytes = 0;
    Json kernels = Json::Array(), orders = Json::Array();
    for (const CacheEntry &entry : cache_list(folder)) {
        bytes += entry.bytes;
        (is_order_file(entry.file) ? orders : kernels).push_back(entry_json(entry));
    }
    j["bytes"] = bytes;
    j["kernels"] = std::move(kernels);
    j["orders"] = std::move(orders);
    return j;
}

// ---------------------------------------------------------------- all of it

Json collect() {
    Json j;
    j["version"] = PERM_VERSION_STRING;
#ifdef __clang__
    j["compiler"] = "clang " __clang_version__;
#else
    j["compiler"] = "gcc " __VERSION__;
#endif
    j["engines"] = Json::Array();
    for (const EngineInfo &engine : engine_table()) j["engines"].push_back(engine_name(engine.id));
    j["gpus"] = gpus_json();
    j["driver"] = library_json(driver_status());
    j["nvrtc"] = library_json(nvrtc_status());
    j["nvrtc"]["architectures"] = nvrtc_status().architectures;
    j["devices"] = Json::Array{"cpu"};
    if (const Json::Array &gpus = j.array("gpus");
        !gpus.empty() && gpus[0].find("name") && nvrtc_status().found)
        j["devices"].push_back("gpu");
    j["kernel_cache"] = cache_summary_json(default_cache_folder());
    j["processor"] = processor_name();
    j["cores"] = available_cores();
    j["memory_bytes"] = machine_memory();
    j["libraries"] = {{"oneTBB", TBB_runtime_version()}, {"MPFR", mpfr_get_version()}, {"GMP", gmp_version}};
    j["simd"] = tree_walk_target();
    return j;
}

std::string names_text(const Json::Array &names) {
    std::string text;
    for (const Json &name : names) text += (text.empty() ? "" : ", ") + name.text();
    return text;
}

std::string cache_heading(const Json &j, std::int64_t kernels, std::int64_t orders) {
    const std::string &folder = j.text("folder");
    if (folder.empty()) return "none are kept on disk";
    if (j.find("why_not")) return formatted("{} cannot be used: {}", folder, j.text("why_not"));
    return formatted("{}: {}", folder, kept_text(kernels, orders, bytes_of(j, "bytes")));
}

} // namespace

std::string info_json() { return collect().written(); }

std::string machine_here() {
    return machine_json({processor_name(), available_cores(), machine_memory(), gpus_here()}).written();
}

std::string info_text() {
    const Json j = collect();
    std::string text =
        formatted("libperm {} (compiled by {})\nengines    {}\ndevices    {}\n", j.text("version"),
                  j.text("compiler"), names_text(j.array("engines")), names_text(j.array("devices")));
    for (const Json &gpu : j.array("gpus"))
        text += formatted("gpu {:<6} {}\n", gpu.integer("ordinal"), gpu_text(gpu));
    text +=
        formatted("driver     {}\nNVRTC      {}\n", driver_text(j.at("driver")), nvrtc_text(j.at("nvrtc")));
    const Json &cache = j.at("kernel_cache");
    text +=
        formatted("kernels    {}\n", cache_heading(cache, cache.integer("kernels"), cache.integer("orders")));
    return text +
           formatted("processor  {}, {} cores, {}\nmemory     {}\nlibraries  oneTBB {}, MPFR {}, GMP {}\n",
                     j.text("processor"), j.integer("cores"), j.text("simd"), bytes_of(j, "memory_bytes"),
                     j.at("libraries").text("oneTBB"), j.at("libraries").text("MPFR"),
                     j.at("libraries").text("GMP"));
}

std::string cache_json(const char *folder) { return cache_contents(folder_or_default(folder)).written(); }

std::string cache_text(const char *folder) {
    const Json j = cache_contents(folder_or_default(folder));
    const Json::Array &kernels = j.array("kernels"), &orders = j.array("orders");
    std::string text = cache_heading(j, std::ssize(kernels), std::ssize(orders)) + "\n";
    const auto add = [&text](const Json &entry, const std::string &last) {
        text +=
            formatted("{}  {:>8}  {}  {:<8}  n = {:<3}  {}\n", entry.text("file"), bytes_of(entry, "bytes"),
                      local_time(entry.integer("used_unix")), entry.text("engine"), entry.integer("n"), last);
    };
    for (const Json &kernel : kernels) add(kernel, kernel.text("target"));
    for (const Json &order : orders) add(order, "order of " + order.text("of"));
    return text;
}

std::int64_t clear_cache(const char *folder) {
    const std::string name = folder_or_default(folder);
    if (name.empty()) return 0;
    std::error_code error;
    const std::filesystem::directory_iterator readable(name, error);
    if (error && error != std::errc::no_such_file_or_directory)
        throw Error(PERM_BAD_OPTION, formatted("cannot read the folder '{}': {}", name, error.message()));
    return cache_clear(name);
}

} // namespace libperm
