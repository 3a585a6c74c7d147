#include "jit/compile/disk_cache.hpp"

#include "jit/compile/digest.hpp"
#include "jit/driver/cuda_libraries.hpp"

#define XXH_INLINE_ALL
#define XXH_NO_INLINE_HINTS 1 // GCC's -Og cannot follow them
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <pwd.h>
#include <random>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace libperm {
namespace {

constexpr std::int64_t most_file_bytes = 256L << 20; // more is not a kernel
constexpr std::string_view magic = "PERMCUBN", temporary_suffix = ".tmp";
constexpr std::string_view suffixes[] = {".cubin", ".order"};
constexpr std::size_t hash_digits = 32;

struct Header {
    std::array<char, 8> magic;
    std::uint32_t version, key_bytes;
    std::uint64_t payload_bytes, checksum;
};
static_assert(sizeof(Header) == 32 && std::endian::native == std::endian::little);

Header header_of(std::string_view key, std::string_view payload) {
    Header header{{}, 1, static_cast<std::uint32_t>(key.size()), payload.size(), 0};
    std::copy(magic.begin(), magic.end(), header.magic.begin());
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, &header, offsetof(Header, checksum));
    for (const std::string_view part : {key, payload}) XXH3_64bits_update(&state, part.data(), part.size());
    header.checksum = XXH3_64bits_digest(&state);
    return header;
}

// For the writing of this file; no other process or thread has the same, on no machine that shares the
// folder.
std::string temporary_name(std::string_view file) {
    std::random_device random;
    std::array<unsigned char, 16> bytes{};
    for (unsigned char &byte : bytes) byte = static_cast<unsigned char>(random());
    return std::string(file) + '.' + hexadecimal(bytes.data(), bytes.size()) + std::string(temporary_suffix);
}

enum class CacheName { kept, temporary, other };
CacheName read_cache_name(std::string_view name) {
    const std::string_view hash = name.substr(0, hash_digits);
    if (hash.size() < hash_digits || hash.find_first_not_of(hexadecimal_digits) != std::string_view::npos)
        return CacheName::other;
    const std::string_view rest = name.substr(hash_digits);
    for (const std::string_view suffix : suffixes) {
        if (rest == suffix) return CacheName::kept;
        if (rest.starts_with(std::string(suffix) + '.') && rest.ends_with(temporary_suffix))
            return CacheName::temporary;
    }
    return CacheName::other;
}

bool writable_by_others(const struct stat &about) { return (about.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

bool trusted(const struct stat &about) {
    return S_ISREG(about.st_mode) && about.st_uid == geteuid() && !writable_by_others(about) &&
           about.st_size >= std::int64_t{sizeof(Header)} && about.st_size <= most_file_bytes;
}

// As many as there are, up to the size of `bytes`, which becomes their number.
bool read_all(int from, std::string &bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = read(from, bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return true;
}

bool write_all(int to, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t put = write(to, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
}

// Nothing that belongs to another user.
bool remove_own(const Descriptor &folder, const std::string &name) {
    struct stat about {};
    return fstatat(folder.number(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 &&
           about.st_uid == geteuid() && unlinkat(folder.number(), name.c_str(), 0) == 0;
}

// With its parents, for us alone; false with errno.
bool make_cache_folder(const std::string &folder) {
    const auto made = [&] { return mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST; };
    if (made()) return true;
    const auto slash = folder.find_last_of('/');
    if (errno != ENOENT || slash == std::string::npos || slash == 0) return false;
    return make_cache_folder(folder.substr(0, slash)) && made();
}

// A regular file of ours that nobody else can write to, whole. What lies there instead is removed.
struct TrustedFile {
    std::string bytes;
    timespec used{}; // when it was last loaded or stored
    Descriptor descriptor;
};
std::optional<TrustedFile> read_trusted(const Descriptor &folder, const std::string &name) {
    // Without O_NONBLOCK a named pipe would hold us up.
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    TrustedFile file{{}, {}, Descriptor(openat(folder.number(), name.c_str(), flags))};
    const int number = file.descriptor.number();
    if (!file.descriptor) { // a link, a forbidden file or a socket; not: too many open files
        if (errno == ELOOP || errno == EACCES || errno == ENXIO) remove_own(folder, name);
        return {};
    }
    struct stat about {};
    if (fstat(number, &about) != 0) return {};
    if (!trusted(about)) {
        remove_own(folder, name);
        return {};
    }
    file.used = about.st_mtim;
    file.bytes.resize(static_cast<std::size_t>(about.st_size));
    if (!read_all(number, file.bytes)) return {};
    return file;
}

// Under another name first, then renamed: nobody sees a part of it. False with errno.
bool write_whole(const Descriptor &folder, const std::string &name, std::string_view bytes) {
    const std::string temporary = temporary_name(name);
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    Descriptor file(openat(folder.number(), temporary.c_str(), flags, S_IRUSR | S_IWUSR));
    if (!file) return false;
    // No fsync: what a crash of the machine leaves of the file fails its checksum, and is compiled again.
    if (write_all(file.number(), bytes) && file.close() &&
        renameat(folder.number(), temporary.c_str(), folder.number(), name.c_str()) == 0)
        return true;
    const int error = errno;
    file.close();
    unlinkat(folder.number(), temporary.c_str(), 0);
    errno = error;
    return false;
}

constexpr std::int64_t touch_after_seconds = 60;       // so that most hits write nothing
constexpr std::int64_t abandoned_after_seconds = 3600; // a temporary file; no writing takes so long

std::string home_folder() {
    if (std::string home = trusted_environment("HOME"); home.starts_with('/')) return home;
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
    if (bytes > std::min(settings.limit_bytes, most_file_bytes)) return;
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

std::string cache_file_name(std::string_view key) {
    return digest_of_bytes(key) + std::string(suffixes[key.starts_with(order_key) ? 1 : 0]);
}

bool is_order_file(std::string_view name) { return name.ends_with(suffixes[1]); }

std::string encode_cache_file(std::string_view key, std::string_view payload) {
    const Header header = header_of(key, payload);
    std::string file(sizeof header, '\0');
    std::memcpy(file.data(), &header, sizeof header);
    file.reserve(file.size() + key.size() + payload.size());
    file += key;
    file += payload;
    return file;
}

std::optional<CacheContent> decode_cache_file(std::string_view file) {
    if (file.size() < sizeof(Header)) return {};
    Header header{};
    std::memcpy(&header, file.data(), sizeof header);
    const std::string_view rest = file.substr(sizeof header);
    if (header.key_bytes > rest.size() || header.payload_bytes != rest.size() - header.key_bytes) return {};
    const CacheContent content{rest.substr(0, header.key_bytes), rest.substr(header.key_bytes)};
    const Header right = header_of(content.key, content.payload);
    if (std::memcmp(&header, &right, sizeof header) != 0) return {};
    return content;
}

int Descriptor::release() { return std::exchange(number_, -1); }

bool Descriptor::close() { return number_ < 0 || ::close(release()) == 0; }

CacheFolder open_cache_folder(const std::string &folder) {
    Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat about {};
    if (!opened || fstat(opened.number(), &about) != 0)
        return {Descriptor(), errno == ENOENT ? "" : std::generic_category().message(errno)};
    if (about.st_uid != geteuid()) return {Descriptor(), "it belongs to another user"};
    if (writable_by_others(about)) return {Descriptor(), "other users can write to it (chmod go-w helps)"};
    return {std::move(opened), ""};
}

void warn_of_folder(const CacheSettings &settings, const std::string &folder, const std::string &problem) {
    static std::mutex mutex;
    static std::set<std::string> warned;
    if (!settings.warn) return;
    {
        const std::lock_guard lock(mutex);
        if (!warned.insert(folder).second) return;
    }
    settings.warn(problem);
}

std::vector<OwnFile> own_files(const Descriptor &folder) {
    std::vector<OwnFile> files;
    Descriptor again(openat(folder.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!again) return files;
    const std::unique_ptr<DIR, int (*)(DIR *)> entries(fdopendir(again.number()), closedir);
    if (!entries) return files;
    again.release(); // closedir closes it
    while (const dirent *entry = readdir(entries.get())) {
        const CacheName kind = read_cache_name(entry->d_name);
        struct stat about {};
        if (kind == CacheName::other ||
            fstatat(folder.number(), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            S_ISDIR(about.st_mode) || about.st_uid != geteuid())
            continue;
        files.push_back({entry->d_name, kind == CacheName::temporary, about.st_size, about.st_mtim});
    }
    return files;
}

std::string default_cache_folder() {
    if (const char *folder = secure_getenv("PERM_CACHE_DIR"); folder != nullptr) return folder;
    if (const std::string folder = trusted_environment("XDG_CACHE_HOME"); folder.starts_with('/'))
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
