#include "gnuplot.hpp"

#include "lib/base/json.hpp"

#include <perm.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace perm {
namespace {

struct Closer {
    void operator()(std::FILE *file) const { std::fclose(file); }
};

// Files and not pipes, so that neither side waits for the other.
class Stream {
  public:
    Stream() : file_(std::tmpfile()) {
        if (!file_) throw std::runtime_error(std::string("no temporary file: ") + std::strerror(errno));
    }
    int number() const { return fileno(file_.get()); }
    void write(const std::string &text) {
        if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() ||
            std::fflush(file_.get()) != 0)
            throw std::runtime_error(std::string("cannot write a temporary file: ") + std::strerror(errno));
        go_to_beginning();
    }
    std::string read() {
        go_to_beginning();
        std::string text;
        char part[65536];
        std::size_t size = 0;
        do {
            size = std::fread(part, 1, sizeof part, file_.get());
            text.append(part, size);
        } while (size > 0);
        return text;
    }

  private:
    void go_to_beginning() {
        if (std::fseek(file_.get(), 0, SEEK_SET) != 0)
            throw std::runtime_error(std::string("cannot read a temporary file: ") + std::strerror(errno));
    }

    std::unique_ptr<std::FILE, Closer> file_;
};

// 0, or why it could not be started.
int spawn(pid_t &child, const Stream (&streams)[3]) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int k = 0; k < 3; ++k) posix_spawn_file_actions_adddup2(&actions, streams[k].number(), k);
    char name[] = "gnuplot", no_settings[] = "-d", standard_input[] = "-"; // of the user's own, that is
    char *arguments[] = {name, no_settings, standard_input, nullptr};
    const int error = posix_spawnp(&child, name, &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

std::string how_it_ended(int status) {
    return WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status))
                               : "ended with exit status " + std::to_string(WEXITSTATUS(status));
}

} // namespace

std::string gnuplot(const std::string &script) {
    Stream streams[3]; // in, out, error
    streams[0].write(script);
    pid_t child = 0;
    if (const int error = spawn(child, streams))
        throw Error(PERM_UNSUPPORTED, std::string("--plot needs gnuplot, which could not be started (") +
                                          std::strerror(error) + "); on Debian: apt-get install gnuplot-nox");
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0)
        throw std::runtime_error("--plot: gnuplot " + how_it_ended(status) + ". What it said:\n" +
                                 streams[2].read());
    return streams[1].read();
}

std::string quoted(const std::string &text) {
    // What is no UTF-8 is replaced on the way to JSON.
    const std::string valid = libperm::Json::read(libperm::Json(text).written(-1)).text();
    std::string out = "'";
    for (const char c : valid) {
        if (c == '\'') out += c;
        out += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
    }
    return out + "'";
}

} // namespace perm
