#include "lib/base/durable_file.hpp"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace libperm {
namespace {

[[noreturn]] void fail(const std::string &file) {
    throw std::system_error(errno, std::generic_category(), file);
}

// No errno tells of this.
class NoPlainFile : public std::error_category {
    const char *name() const noexcept override { return "file"; }
    std::string message(int) const override { return "It is a device, a pipe or a socket and no plain file"; }
};

// A device may have no end, and is not to be replaced by a file.
void require_plain(const struct stat &about, const std::string &file) {
    static const NoPlainFile category{};
    if (S_ISDIR(about.st_mode)) throw std::system_error(EISDIR, std::generic_category(), file);
    if (!S_ISREG(about.st_mode)) throw std::system_error(1, category, file);
}

class File {
  public:
    File(const std::string &name, int flags)
        : name_(name), number_(open(name.c_str(), flags | O_CLOEXEC, 0666)) {
        if (number_ < 0) fail(name_);
    }
    ~File() {
        if (number_ >= 0) close(number_);
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;

    void write(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t written = ::write(number_, bytes.data(), bytes.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) fail(name_);
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    std::string read_all() const {
        struct stat about {};
        if (fstat(number_, &about) != 0) fail(name_);
        require_plain(about, name_);
        std::string bytes(static_cast<std::size_t>(about.st_size) + 1, '\0');
        for (std::size_t done = 0;;) {
            if (done == bytes.size()) bytes.resize(2 * done); // it has grown
            const ssize_t got = ::read(number_, bytes.data() + done, bytes.size() - done);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) fail(name_);
            done += static_cast<std::size_t>(got);
            if (got > 0) continue;
            bytes.resize(done);
            return bytes;
        }
    }
    void sync() const {
        if (fsync(number_) != 0) fail(name_);
    }
    void finish() { // which is where a network's file system may first say that it is full
        const int number = number_;
        number_ = -1;
        if (close(number) != 0) fail(name_);
    }

  private:
    std::string name_;
    int number_;
};

void rename(const std::string &from, const std::string &to) {
    if (std::rename(from.c_str(), to.c_str()) != 0) fail(to);
}

constexpr std::string_view temporary_end = ".writing";
std::atomic<unsigned> temporaries = 0; // of this process

// Of this process, or of one of its number that was killed: it is passed over where it is there.
std::string temporary_name(const std::string &file) {
    return file + "." + std::to_string(getpid()) + "." + std::to_string(temporaries++) +
           std::string(temporary_end);
}

std::string folder_of(const std::string &file) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    return folder.empty() ? "." : folder.string();
}

// Whether some process may be writing under this name, which ends in its number and that of its file.
bool is_being_written(std::string_view numbers) {
    pid_t process = 0;
    unsigned number = 0;
    const char *const first = numbers.data(), *const end = first + numbers.size();
    const auto [point, error] = std::from_chars(first, end, process);
    if (error != std::errc{} || process <= 0 || point == end || *point != '.') return true; // no such name
    const auto [last, error_of_number] = std::from_chars(point + 1, end, number);
    if (error_of_number != std::errc{} || last != end) return true;
    if (process == getpid()) return number < temporaries; // else of one of its number before it
    return kill(process, 0) == 0 || errno != ESRCH;
}

// What processes left behind that were killed while they wrote to this file. Nobody misses what cannot be
// removed. By calls that allocate nothing in C++: some of std::filesystem's end the process where no memory
// is left.
void remove_unfinished(const std::string &file) {
    const std::size_t slash = file.rfind('/') + 1; // 0 where there is none
    const std::string_view begin = std::string_view(file).substr(slash);
    DIR *const folder = opendir(folder_of(file).c_str());
    if (folder == nullptr) return;
    while (const dirent *entry = readdir(folder)) {
        const std::string_view name = entry->d_name;
        if (name.size() <= begin.size() + 1 + temporary_end.size() || !name.starts_with(begin) ||
            name[begin.size()] != '.' || !name.ends_with(temporary_end))
            continue;
        const std::string_view numbers =
            name.substr(begin.size() + 1, name.size() - begin.size() - 1 - temporary_end.size());
        if (!is_being_written(numbers)) unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
}

// Others may write too, and whoever may write to the folder may have laid a link there.
std::string write_temporary(const std::string &file, std::string_view bytes) {
    for (;;) {
        const std::string name = temporary_name(file);
        try {
            File out(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
            try {
                out.write(bytes);
                out.sync();
                out.finish();
                return name;
            } catch (...) {
                unlink(name.c_str());
                throw;
            }
        } catch (const std::system_error &error) {
            if (error.code() != std::errc::file_exists) throw;
        }
    }
}

// `file` stays where it is, so that whoever reads meanwhile finds it, and whoever writes too is not in the
// way.
void keep_previous(const std::string &file) {
    for (;;) {
        const std::string name = temporary_name(file);
        if (link(file.c_str(), name.c_str()) == 0) {
            const bool is_renamed = std::rename(name.c_str(), previous_of(file).c_str()) == 0;
            const int error = errno;
            unlink(name.c_str()); // it is there still where both were the same file
            errno = error;
            if (!is_renamed) fail(previous_of(file));
            return;
        }
        if (errno == EEXIST) continue;
        if (errno == ENOENT) return;
        if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK) fail(file);
        rename(file, previous_of(file)); // a file system without links
        return;
    }
}

} // namespace

std::string previous_of(const std::string &file) { return file + ".previous"; }

std::string those_kept(const std::string &file) {
    return exists(previous_of(file)) ? "this one and " + previous_of(file) : "this one";
}

bool exists(const std::string &file) { return access(file.c_str(), F_OK) == 0; }

void write_durably(const std::string &file, std::string_view bytes, bool is_torn) {
    struct stat about {};
    const bool is_there = stat(file.c_str(), &about) == 0;
    if (is_there) require_plain(about, file);
    const std::string temporary = write_temporary(file, bytes);
    try {
        if (!is_torn && is_there) keep_previous(file);
        rename(temporary, file);
    } catch (...) {
        unlink(temporary.c_str());
        throw;
    }
    remove_unfinished(file);
    File(folder_of(file), O_RDONLY | O_DIRECTORY).sync();
}

std::string read_file(const std::string &file) {
    return File(file, O_RDONLY | O_NONBLOCK).read_all(); // a pipe would hold us up
}

} // namespace libperm
