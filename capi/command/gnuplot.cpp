#include "plot.hpp"

#include "lib/base/json.hpp"

#include <perm.hpp>

#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <sys/wait.h>

namespace perm {
namespace {

struct Closer {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

// Files and not pipes, so that neither side waits for the other.
File temporary_file(const std::string &text) {
    File file(std::tmpfile());
    if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
        std::fflush(file.get()) != 0 || std::fseek(file.get(), 0, SEEK_SET) != 0)
        throw std::runtime_error("--plot: a temporary file cannot be written");
    return file;
}

std::string rest_of(std::FILE *file) {
    std::string text;
    char part[65536];
    while (const std::size_t size = std::fread(part, 1, sizeof part, file)) text.append(part, size);
    return text;
}

std::string how_it_ended(int status) {
    return WIFSIGNALED(status) ? fmt::format("was ended by signal {}", WTERMSIG(status))
                               : fmt::format("ended with exit status {}", WEXITSTATUS(status));
}

} // namespace

std::string gnuplot(const std::string &script) {
    constexpr int not_found = 127; // as the shell says it
    const File in = temporary_file(script), errors = temporary_file("");
    // -d: without the settings that a user has.
    const std::string command =
        fmt::format("exec gnuplot -d - <&{} 2>&{}", fileno(in.get()), fileno(errors.get()));
    // No word of it is a caller's. NOLINTNEXTLINE(bugprone-command-processor,cert-env33-c)
    std::FILE *out = popen(command.c_str(), "r");
    if (!out) throw std::runtime_error("--plot: gnuplot cannot be started");
    std::string picture = rest_of(out);
    const int status = pclose(out);
    if (WIFEXITED(status) && WEXITSTATUS(status) == not_found)
        throw Error(PERM_UNSUPPORTED,
                    "--plot needs gnuplot, which is not found; on Debian: apt-get install gnuplot-nox");
    if (status == 0) return picture;
    const std::string said = std::fseek(errors.get(), 0, SEEK_SET) == 0 ? rest_of(errors.get()) : "nothing";
    throw std::runtime_error(
        fmt::format("--plot: gnuplot {}. What it said:\n{}", how_it_ended(status), said));
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
