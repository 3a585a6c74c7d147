// What the command writes, answers, messages and progress, and how failures and signals end it.
#pragma once

#include "file_text.hpp"
#include "lib/base/json.hpp"

#include <chrono>
#include <exception>
#include <functional>
#include <new>
#include <perm.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace perm {

// The standard output could not be written.
class OutputError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Writes all of the text, ended by a line end, or throws OutputError.
void write_stdout(std::string text);
void write_stdout_part(const std::string &text); // as it is: more follows

// Writes all of a file. Throws Error when it cannot be opened, and OutputError.
void write_file(const std::string &path, const std::string &bytes);

// Throws Error where the folder of a file that is to be written is missing or cannot be written to.
void require_folder_of(const std::string &path);

// Writes "perm: ..." to stderr.
void write_message(const std::string &text);

// Fields of perm_opts that the command has by other names; the others are `--` and their own.
struct RenamedField {
    std::string_view field, option;
};
constexpr RenamedField renamed_fields[] = {{"memory_limit_bytes", "--memory"},
                                           {"time_limit_seconds", "--time-limit"},
                                           {"cache_dir", "--cache"},
                                           {"checkpoint_seconds", "--checkpoint-every"}};

// A text of the library with its names of fields replaced by the options that set them.
std::string in_command_terms(std::string text);

enum ExitCode {
    exit_answered = 0,
    exit_failed = 1,
    exit_bad_input = 2,
    exit_refused = 3,
    exit_cancelled = 130
};

ExitCode exit_code(perm_status status);

// {"status", "code", "text"}.
libperm::Json failure(perm_status status, const std::string &text);

// What went wrong in the midst of an answer, and is said there.
struct Reported : std::exception {
    explicit Reported(ExitCode of_command) : code(of_command) {}
    ExitCode code;
};

// Says what went wrong, on stderr and, with json, as {"error": {"status", "code", "text"}} on stdout.
ExitCode report_failure(perm_status status, const std::string &text, bool json);

// What work() returns, or else fail(status, what went wrong in the command's terms).
template <class Work, class Fail> int guarded(const Work &work, const Fail &fail) {
    try {
        return work();
    } catch (const Reported &failed) {
        return failed.code;
    } catch (const FileError &error) {
        return fail(PERM_BAD_MATRIX, error.what());
    } catch (const Error &error) {
        return fail(error.status(), in_command_terms(error.what()));
    } catch (const OutputError &error) {
        write_message(error.what());
        return exit_failed;
    } catch (const std::bad_alloc &) {
        return fail(PERM_OUT_OF_MEMORY, "out of memory");
    } catch (const std::exception &error) {
        return fail(PERM_INTERNAL, error.what());
    }
}

// One line on the terminal that says how far the work is; nothing in the first second. It is erased when the
// Progress ends. Where stderr is no terminal: a message after ten seconds, and then every minute.

// "0.42 s", "12 s", "3 min 20 s", "5 h 10 min", "12 days".
std::string in_words(double seconds);

class Progress {
  public:
    using Clock = std::chrono::steady_clock;
    explicit Progress(bool wanted, Clock::time_point start = Clock::now());
    ~Progress();
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    // What more there is to be said, behind the time that is left.
    void show_beside(std::function<std::string()> more) { more_ = std::move(more); }

    // A perm_progress_fn whose user pointer is the Progress.
    static void report(double fraction, double seconds_left, void *user);

  private:
    void show(double fraction, double seconds_left);
    void rewrite(const std::string &line);

    bool wanted_, on_terminal_;
    double due_; // in seconds after the start: the next that is said
    std::function<std::string()> more_;
    std::size_t width_ = 0; // of what stands on the line now
    Clock::time_point start_;
};

// SIGINT and SIGTERM. The first one ends the command by exit 130: at once, or through the library's cancel
// callback while a Cancellable lives. A second one ends it at once.

void catch_signals();

// A notice for Cancellable.
inline constexpr const char *finishing =
    "perm: stopping: what is under way has 10 seconds to finish; once more stops at once\n";

class Cancellable {
  public:
    // `notice` (static, may be null) is written at the first signal.
    explicit Cancellable(const char *notice = nullptr);
    ~Cancellable();
    Cancellable(const Cancellable &) = delete;
    Cancellable &operator=(const Cancellable &) = delete;

    // A perm_cancel_fn.
    static int requested(void *);
};

} // namespace perm
