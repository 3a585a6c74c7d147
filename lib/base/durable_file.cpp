#include "lib/base/durable_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <unistd.h>

namespace libperm {
namespace {

[[noreturn]] void fail(const std::string &file) {
    throw std::system_error(errno, std::generic_category(), file);
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

} // namespace

std::string previous_of(const std::string &file) { return file + ".previous"; }

bool exists(const std::string &file) { return access(file.c_str(), F_OK) == 0; }

void write_durably(const std::string &file, std::string_view bytes, bool is_torn) {
    const std::string temporary = file + "." + std::to_string(getpid()) + ".writing"; // others may write too
    try {
        File out(temporary, O_WRONLY | O_CREAT | O_TRUNC);
        out.write(bytes);
        out.sync();
        out.finish();
    } catch (...) {
        unlink(temporary.c_str());
        throw;
    }
    if (!is_torn && exists(file)) rename(file, previous_of(file));
    rename(temporary, file);
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    File(folder.empty() ? "." : folder.string(), O_RDONLY | O_DIRECTORY).sync();
}

std::string read_file(const std::string &file) {
    errno = 0;
    std::ifstream in(file, std::ios::binary);
    if (!in) fail(file);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (in.bad()) fail(file);
    return bytes;
}

} // namespace libperm
