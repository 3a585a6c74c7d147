#include "tests/support/command.hpp"

#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace command {
namespace {

std::string command_path() {
    const char *path = std::getenv("PERM_COMMAND");
    return path ? path : PERM_COMMAND_PATH;
}

} // namespace

std::string Folder::write(const std::string &name, const std::string &text) const {
    std::ofstream(*this / name) << text;
    return *this / name;
}

std::string Folder::read(const std::string &name) const {
    std::ostringstream text;
    text << std::ifstream(*this / name).rdbuf();
    return text.str();
}

Process::Process(std::vector<std::string> arguments, const std::string &in, const std::string &out,
                 const std::string &err, int err_fd) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, in.c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (err_fd < 0)
        posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    else
        posix_spawn_file_actions_adddup2(&files, err_fd, 2);

    // Tests that run in the background may have inherited ignored signals.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    for (int number : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&signals, number);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

    const std::string path = command_path();
    std::vector<char *> argv{const_cast<char *>(path.c_str())};
    for (std::string &argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int error = posix_spawn(&pid_, path.c_str(), &files, &attributes, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    REQUIRE_MESSAGE(error == 0, "cannot start ", path);
}

void Process::signal(int number) const { kill(pid_, number); }

void Process::await_handlers() const {
    const std::string status = "/proc/" + std::to_string(pid_) + "/status";
    for (std::string caught; (std::strtoull(caught.c_str(), nullptr, 16) >> (SIGTERM - 1) & 1) == 0;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::ifstream in(status);
        std::string line;
        while (std::getline(in, line) && !line.starts_with("SigCgt:"))
            if (line.starts_with("State:\tZ")) return; // it has ended
        REQUIRE(line.starts_with("SigCgt:"));
        caught = line.substr(line.find('\t') + 1);
    }
}

int Process::wait(std::int64_t *peak_bytes) const {
    int status = 0;
    rusage used{};
    REQUIRE(wait4(pid_, &status, 0, &used) == pid_);
    if (peak_bytes) *peak_bytes = std::int64_t{1024} * used.ru_maxrss;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

nlohmann::json Run::object() const {
    CAPTURE(out);
    nlohmann::json parsed = nlohmann::json::parse(out, nullptr, false);
    REQUIRE(parsed.is_object());
    return parsed;
}

Run run(const Folder &folder, const std::vector<std::string> &arguments, const std::string &in) {
    std::int64_t peak_bytes = 0;
    const int code = Process(arguments, in, folder / "stdout", folder / "stderr").wait(&peak_bytes);
    return {code, folder.read("stdout"), folder.read("stderr"), peak_bytes};
}

const bool is_sanitized = ::run::sanitized;
const int long_order = run::sanitized ? 27 : 29;

std::string dense_matrix(int n) {
    std::ostringstream text;
    text << "%%MatrixMarket matrix array real general\n" << n << ' ' << n << '\n';
    unsigned state = 1;
    for (int k = 0; k < n * n; ++k) {
        state = state * 1103515245u + 12345u;
        text << ((state >> 16) % 1000 + 1) / 1000.0 << '\n';
    }
    return text.str();
}

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

void check_usage_error(const Folder &folder, const std::vector<std::string> &arguments,
                       const std::string &word) {
    const Run r = run(folder, arguments);
    CAPTURE(r.err);
    CAPTURE(word);
    CHECK(r.code == 2);
    CHECK(r.out.empty());
    CHECK(contains(r.err, "perm: "));
    CHECK(contains(r.err, word));
}

} // namespace command
