// The perm command as a user or a script runs it: that of the environment variable PERM_COMMAND, or else the
// one of the build.
#pragma once

#include "tests/support/temporary_folder.hpp"

#include <nlohmann/json_fwd.hpp>

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace command {

class Folder : public TemporaryFolder {
  public:
    // Of a file in it; `write` returns its path.
    std::string write(const std::string &name, const std::string &text) const;
    std::string read(const std::string &name) const;
};

// The command under way. It must be waited for.
class Process {
  public:
    // Its standard streams are opened from the paths given; err_fd, if any, is its stderr instead.
    Process(std::vector<std::string> arguments, const std::string &in, const std::string &out,
            const std::string &err, int err_fd = -1);

    void signal(int number) const;
    void await_handlers() const; // of SIGINT and SIGTERM: before that these would just kill it

    // Its exit code, or minus the signal that killed it. Its peak resident set, in bytes, is at least that of
    // the process that started it.
    int wait(std::int64_t *peak_bytes = nullptr) const;

  private:
    pid_t pid_ = -1;
};

struct Run {
    int code;
    std::string out, err;
    std::int64_t peak_bytes = 0;

    nlohmann::json object() const;
};

extern const bool is_sanitized; // run::sanitized, where run is the function

Run run(const Folder &folder, const std::vector<std::string> &arguments, const std::string &in = "/dev/null");

// Of a Matrix Market file: with n x n numbers in (0, 1].
std::string dense_matrix(int n);
extern const int long_order; // of one that takes a second or so: it can be stopped on its way

bool contains(const std::string &text, const std::string &part);

void check_usage_error(const Folder &folder, const std::vector<std::string> &arguments,
                       const std::string &word);

} // namespace command
