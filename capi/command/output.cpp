#include "output.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

namespace perm {

void write_stdout(std::string text) {
    if (text.empty() || text.back() != '\n') text += '\n';
    write_stdout_part(text);
}

void write_stdout_part(const std::string &text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw OutputError(std::string("cannot write to the standard output: ") + std::strerror(errno));
}

void write_file(const std::string &path, const std::string &bytes) {
    std::FILE *file = std::fopen(path.c_str(), "wb");
    if (!file) throw Error(PERM_BAD_OPTION, "cannot write '" + path + "': " + std::strerror(errno));
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    if (std::fclose(file) != 0 || !written)
        throw OutputError("cannot write '" + path + "': " + std::strerror(errno));
}

void require_folder_of(const std::string &path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0)
        throw Error(PERM_BAD_OPTION, "cannot write '" + path + "': " + std::strerror(errno));
    if (std::filesystem::is_directory(path))
        throw Error(PERM_BAD_OPTION, "cannot write '" + path + "': this is a directory");
}

void write_message(const std::string &text) { std::fprintf(stderr, "perm: %s\n", text.c_str()); }

std::string in_command_terms(std::string text) {
    constexpr RenamedField others[] = {
        {"row_multiplicity", "--row-multiplicity"},
        {"col_multiplicity", "--col-multiplicity"},
        {"row_unmatched", "--row-unmatched"},
        {"col_unmatched", "--col-unmatched"},
        {"the kind of numbers differ",
         "the kinds of numbers differ (--decimal is for all subcommands or none)"},
        {"cancelled by the caller", "cancelled"},
        {"the same call goes on", "the same command goes on"}};
    const auto rename = [&](const RenamedField &one) {
        for (auto at = text.find(one.field); at != text.npos;
             at = text.find(one.field, at + one.option.size()))
            text.replace(at, one.field.size(), one.option);
    };
    for (const RenamedField &one : renamed_fields) rename(one);
    for (const RenamedField &one : others) rename(one);
    return text;
}

ExitCode exit_code(perm_status status) {
    switch (status / 100) {
    case 0:
        return exit_answered;
    case 1:
        return exit_bad_input;
    case 2:
        return exit_refused;
    case 3:
        return exit_cancelled;
    default:
        return exit_failed;
    }
}

libperm::Json failure(perm_status status, const std::string &text) {
    return {{"status", perm_status_text(status)}, {"code", static_cast<int>(status)}, {"text", text}};
}

ExitCode report_failure(perm_status status, const std::string &text, bool json) {
    write_message(text);
    if (!json) return exit_code(status);
    try {
        write_stdout(libperm::Json{{"error", failure(status, text)}}.written());
    } catch (const OutputError &error) {
        write_message(error.what());
    }
    return exit_code(status);
}

std::string in_words(double seconds) {
    constexpr double minute = 60, hour = 60 * minute, day = 24 * hour;
    if (!(seconds < 1e15)) return "for ever";
    if (seconds < 10) return fmt::format("{:.3g} s", seconds);
    if (seconds < minute) return fmt::format("{:.0f} s", std::floor(seconds));
    if (seconds < hour)
        return fmt::format("{:.0f} min {:.0f} s", std::floor(seconds / minute),
                           std::floor(std::fmod(seconds, minute)));
    if (seconds < 2 * day)
        return fmt::format("{:.0f} h {:.0f} min", std::floor(seconds / hour),
                           std::floor(std::fmod(seconds, hour) / minute));
    return fmt::format("{:.0f} days", std::floor(seconds / day));
}

Progress::Progress(bool wanted, Clock::time_point start)
    : wanted_(wanted), on_terminal_(isatty(STDERR_FILENO) == 1), due_(on_terminal_ ? 1 : 10), start_(start) {}

Progress::~Progress() {
    if (width_ == 0) return;
    rewrite("");
    std::fputc('\r', stderr);
}

void Progress::report(double fraction, double seconds_left, void *user) {
    static_cast<Progress *>(user)->show(fraction, seconds_left);
}

void Progress::show(double fraction, double seconds_left) {
    const std::chrono::duration<double> elapsed = Clock::now() - start_;
    if (!wanted_ || elapsed.count() < due_) return;
    // A tenth of a percent, never rounded up to a hundred that is not reached.
    const double percent = std::floor(std::clamp(fraction, 0.0, 1.0) * 1000) / 10;
    std::string line = fmt::format("{:5.1f} %, {} elapsed", percent, in_words(std::floor(elapsed.count())));
    if (seconds_left >= 0) line += fmt::format(", {} left", in_words(std::ceil(seconds_left)));
    if (more_) line += more_();
    if (on_terminal_) return rewrite(line);
    write_message(line.substr(line.find_first_not_of(' ')));
    constexpr double minute = 60;
    due_ = elapsed.count() + minute;
}

void Progress::rewrite(const std::string &line) {
    const std::string text = fmt::format("\r{:<{}}", line, width_);
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
    width_ = std::max(width_, line.size());
}

namespace {

// Lock-free, so a signal handler may use them.
std::atomic<bool> cancellable = false;
std::atomic<bool> cancel_requested = false;
std::atomic<const char *> notice_of_stopping = nullptr;
std::atomic<bool> is_line_open = false; // of progress, on a terminal
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<const char *>::is_always_lock_free);

void write_now(std::string_view message) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, message.data(), message.size());
}

} // namespace

extern "C" {
static void on_signal(int) {
    const bool again = cancel_requested.exchange(true);
    if (cancellable && !again) {
        if (const char *notice = notice_of_stopping) {
            if (is_line_open) write_now("\r");
            write_now(notice);
        }
        return;
    }
    // Nothing is under way that needs an orderly end, and reading a pipe may block for ever.
    write_now("perm: cancelled\n");
    _exit(exit_cancelled);
}
}

void catch_signals() {
    for (int number : {SIGINT, SIGTERM}) {
        struct sigaction action = {};
        // Whoever started us in the background may have chosen that signals do not reach us.
        if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
        action = {};
        action.sa_handler = on_signal;
        action.sa_flags = static_cast<int>(SA_RESTART);
        sigaction(number, &action, nullptr);
    }
    // A reader that leaves is an error of write, not a silent death.
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a file that may not grow is one that cannot be written
}

Cancellable::Cancellable(const char *notice) {
    notice_of_stopping = notice;
    is_line_open = isatty(STDERR_FILENO) == 1;
    cancellable = true;
}
Cancellable::~Cancellable() { cancellable = false; }
int Cancellable::requested(void *) { return cancel_requested; }

} // namespace perm
