#include "lib/base/system.hpp"

#include "jit/text/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <oneapi/tbb/info.h>
#include <unistd.h>

namespace libperm {
namespace {

// A cgroup's memory.max holds a number or "max"; a file that is not there sets no limit.
std::int64_t limit_in(const char *path) {
    std::ifstream file(path);
    std::string text;
    std::int64_t bytes = 0;
    if (!(file >> text)) return std::numeric_limits<std::int64_t>::max();
    const auto end = std::from_chars(text.data(), text.data() + text.size(), bytes);
    return end.ec == std::errc() && bytes > 0 ? bytes : std::numeric_limits<std::int64_t>::max();
}

} // namespace

int available_cores() { return std::max(1, oneapi::tbb::info::default_concurrency()); }

std::int64_t machine_memory() {
    const std::int64_t physical =
        static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
    return std::min({physical, limit_in("/sys/fs/cgroup/memory.max"),
                     limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")});
}

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) {
            const auto colon = line.find(": ");
            return colon == std::string::npos ? "" : line.substr(colon + 2);
        }
    return "";
}

std::string readable_bytes(double bytes) {
    if (bytes > 1e30) return formatted("10^{:.0f} bytes", std::log10(std::min(bytes, 1e308)));
    constexpr std::array units{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    std::size_t unit = 0;
    while (bytes >= 999.5 && unit + 1 < units.size()) {
        bytes /= 1000;
        ++unit;
    }
    return formatted("{:.3g} {}", bytes, units[unit]);
}

std::string readable_seconds(double seconds) {
    if (seconds < 1e-3) return formatted("{:.3g} us", seconds * 1e6);
    if (seconds < 1) return formatted("{:.3g} ms", seconds * 1e3);
    if (seconds < 120) return formatted("{:.3g} s", seconds);
    if (seconds < 7200) return formatted("{:.3g} minutes", seconds / 60);
    if (seconds < 172800) return formatted("{:.3g} hours", seconds / 3600);
    if (seconds < 3.2e7) return formatted("{:.3g} days", seconds / 86400);
    return formatted("{:.3g} years", std::min(seconds / 31557600, 1e300));
}

} // namespace libperm
