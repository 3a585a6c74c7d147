#include "output.hpp"

#include "options.hpp"

#include <perm.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

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

std::string how_to_go_on(const Options &options) { return "\nto go on: " + options.command_line; }

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

} // namespace perm
