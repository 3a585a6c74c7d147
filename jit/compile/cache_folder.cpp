#include "jit/compile/cache_folder.hpp"

#include "jit/compile/cache_file.hpp"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace libperm {
namespace {

bool writable_by_others(const struct stat &about) { return (about.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

bool trusted(const struct stat &about) {
    return S_ISREG(about.st_mode) && about.st_uid == geteuid() && !writable_by_others(about) &&
           about.st_size >= least_cache_file_bytes && about.st_size <= most_cache_file_bytes;
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

} // namespace

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

bool make_cache_folder(const std::string &folder) {
    const auto made = [&] { return mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST; };
    if (made()) return true;
    const auto slash = folder.find_last_of('/');
    if (errno != ENOENT || slash == std::string::npos || slash == 0) return false;
    return make_cache_folder(folder.substr(0, slash)) && made();
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

bool write_whole(const Descriptor &folder, const std::string &name, std::string_view bytes) {
    const std::string temporary = cache_temporary_name(name);
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

bool remove_own(const Descriptor &folder, const std::string &name) {
    struct stat about {};
    return fstatat(folder.number(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 &&
           about.st_uid == geteuid() && unlinkat(folder.number(), name.c_str(), 0) == 0;
}

} // namespace libperm
