// Standard output, and how a failure leaves the command.
#pragma once

#include "file_error.hpp"

#include "lib/base/json.hpp"

#include <perm.hpp>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

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

struct Options;
// "\nto go on: perm compute ...": the command as it was called.
std::string how_to_go_on(const Options &options);

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

} // namespace perm
