#include "jit/compile/cubin_cache.hpp"

#include "jit/compile/cache_file.hpp"
#include "jit/compile/cache_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <system_error>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace libperm {
namespace {

constexpr std::int64_t touch_after_seconds = 60;       // so that most hits write nothing
constexpr std::int64_t abandoned_after_seconds = 3600; // a temporary file; no writing takes so long

// Nothing to a process that has more rights than its user.
std::string environment(const char *name) {
    const char *value = secure_getenv(name);
    return value != nullptr ? value : "";
}

std::string home_folder() {
    if (std::string home = environment("HOME"); home.starts_with('/')) return home;
    std::vector<char> text(1 << 16);
    passwd entry{}, *found = nullptr;
    if (getpwuid_r(geteuid(), &entry, text.data(), text.size(), &found) != 0 || found == nullptr) return "";
    return found->pw_dir != nullptr ? found->pw_dir : "";
}

void warn_unused(const CacheSettings &settings, const std::string &why) {
    warn_of_folder(settings, settings.folder,
                   "compiled kernels are not kept in '" + settings.folder + "': " + why +
                       "; set PERM_CACHE_DIR to a folder that can be used, or to nothing to keep none");
}

// None if there is no folder that can be used.
Descriptor usable_folder(const CacheSettings &settings) {
    CacheFolder folder = open_cache_folder(settings.folder);
    if (!folder.why_not.empty()) warn_unused(settings, folder.why_not);
    return std::move(folder.descriptor);
}

bool older_than(const timespec &when, std::int64_t seconds) {
    return when.tv_sec < std::time(nullptr) - seconds;
}

void touch(const Descriptor &file) {
    const std::array<timespec, 2> now{timespec{0, UTIME_OMIT}, timespec{0, UTIME_NOW}};
    futimens(file.number(), now.data()); // on a file system for reading only it fails, and may
}

std::optional<std::string> load(const CacheSettings &settings, std::string_view key) {
    const Descriptor folder = usable_folder(settings);
    if (!folder) return {};
    const std::string name = cache_file_name(key);
    const auto file = read_trusted(folder, name);
    if (!file) return {};
    const auto content = decode_cache_file(file->bytes);
    if (!content) {
        remove_own(folder, name);
        return {};
    }
    if (content->key != key) return {}; // the hash is the same: the next store replaces it
    if (older_than(file->used, touch_after_seconds)) touch(file->descriptor);
    return std::string(content->payload);
}

bool used_earlier(const OwnFile &a, const OwnFile &b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec, a.name) < std::tie(b.used.tv_sec, b.used.tv_nsec, b.name);
}

// They are small and may be many: of them the last used alone stay, so that a folder is listed in no time.
constexpr std::ptrdiff_t most_orders = 2048;

// Other processes may do the same at the same time: a file that is gone already is no matter.
void prune(const Descriptor &folder, std::int64_t limit_bytes, const std::string &just_stored) {
    std::vector<OwnFile> files;
    std::int64_t bytes = 0;
    for (OwnFile &file : own_files(folder)) {
        if (!file.temporary) {
            bytes += file.bytes;
            files.push_back(std::move(file));
        } else if (older_than(file.used, abandoned_after_seconds)) {
            remove_own(folder, file.name);
        }
    }
    std::sort(files.begin(), files.end(), used_earlier);
    std::ptrdiff_t orders = std::count_if(files.begin(), files.end(),
                                          [](const OwnFile &file) { return is_order_file(file.name); });
    for (const OwnFile &file : files) {
        const bool is_order = is_order_file(file.name);
        if (bytes <= limit_bytes && orders <= most_orders) return;
        if (file.name == just_stored || (bytes <= limit_bytes && !is_order)) continue;
        remove_own(folder, file.name);
        bytes -= file.bytes;
        orders -= is_order;
    }
}

void store(const CacheSettings &settings, std::string_view key, std::string_view payload) {
    const std::string file = encode_cache_file(key, payload);
    const auto bytes = static_cast<std::int64_t>(file.size());
    if (bytes > std::min(settings.limit_bytes, most_cache_file_bytes)) return;
    const bool made = make_cache_folder(settings.folder);
    const std::string why_not = made ? "it cannot be opened" : std::generic_category().message(errno);
    const Descriptor folder = usable_folder(settings); // it may be there all the same
    const std::string name = cache_file_name(key);
    if (!folder) return warn_unused(settings, why_not);
    if (!write_whole(folder, name, file))
        return warn_unused(settings, std::generic_category().message(errno));
    prune(folder, settings.limit_bytes, name);
}

} // namespace

std::string default_cache_folder() {
    if (const char *folder = secure_getenv("PERM_CACHE_DIR"); folder != nullptr) return folder;
    if (const std::string folder = environment("XDG_CACHE_HOME"); folder.starts_with('/'))
        return folder + "/libperm";
    const std::string home = home_folder();
    return home.empty() ? "" : home + "/.cache/libperm";
}

std::optional<std::string> cache_load(const CacheSettings &settings, std::string_view key) {
    if (settings.folder.empty()) return {};
    try {
        return load(settings, key);
    } catch (...) { // no memory for it: as if it were not there
        return {};
    }
}

void cache_store(const CacheSettings &settings, std::string_view key, std::string_view payload) noexcept {
    if (settings.folder.empty()) return;
    try {
        store(settings, key, payload);
    } catch (...) { // it is compiled again another time
    }
}

std::vector<CacheEntry> cache_list(const std::string &folder) {
    const CacheFolder opened = open_cache_folder(folder);
    if (!opened.descriptor) return {};
    std::vector<OwnFile> files = own_files(opened.descriptor);
    std::sort(files.rbegin(), files.rend(), used_earlier);
    std::vector<CacheEntry> entries;
    for (const OwnFile &file : files) {
        if (file.temporary) continue;
        const auto read = read_trusted(opened.descriptor, file.name);
        const auto content = read ? decode_cache_file(read->bytes) : std::nullopt;
        if (content && cache_file_name(content->key) == file.name)
            entries.push_back({file.name, std::string(content->key), file.bytes, file.used.tv_sec});
    }
    return entries;
}

int cache_clear(const std::string &folder) {
    const Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened) return 0;
    int removed = 0;
    for (const OwnFile &file : own_files(opened)) removed += remove_own(opened, file.name) ? 1 : 0;
    return removed;
}

} // namespace libperm
