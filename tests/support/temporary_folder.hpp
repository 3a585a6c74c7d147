// A folder of a test's own: it goes with all that is in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unistd.h>

class TemporaryFolder {
  public:
    explicit TemporaryFolder(const std::filesystem::path &in = std::filesystem::temp_directory_path())
        : path_((in / "perm_test_XXXXXX").string()) {
        if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder " + path_);
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;
    const std::string &path() const { return path_; }
    std::string operator/(const std::string &name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

// One that thousands of writes to which wait for no disk, where the machine has such a place.
class MemoryFolder : public TemporaryFolder {
  public:
    MemoryFolder() : TemporaryFolder(place()) {}

  private:
    static std::filesystem::path place() {
        const char *memory = "/dev/shm";
        return access(memory, W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
    }
};
