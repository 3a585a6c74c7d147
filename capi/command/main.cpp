// perm: exact permanents of sparse matrices on the command line.
#include "commands.hpp"
#include "interrupt.hpp"
#include "matrix_market.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <new>
#include <string_view>

namespace {

using namespace perm;

const char *const footer =
    "Exit status: 0 answered, 1 the machine or the program failed, 2 bad input or usage,\n"
    "3 refused: beyond the limits, or not to be had here (no GPU), 130 cancelled.\n"
    "In JSON, a number beyond the range of double precision is null: \"permanent\" holds it as text, and\n"
    "\"mantissa\" and \"mantissa_imag\" times 2 to the power \"exp2\" are its parts. A failure is\n"
    "{\"error\": {\"status\", \"code\", \"text\"}}.";

const char *const subcommands = "compute, explain, source, info or cache";

// What is wrong with the command line, and whose help says what is right.
std::string usage_error(const CLI::App &app, const CLI::ParseError &error) {
    std::string command = "perm";
    const CLI::App *deepest = &app;
    while (!deepest->get_subcommands().empty()) {
        deepest = deepest->get_subcommands().front();
        command += " " + deepest->get_name();
    }
    if (deepest != &app) return std::string(error.what()) + " (see " + command + " --help)";
    const auto words = app.remaining();
    const bool unknown_command = !words.empty() && words.front().rfind('-', 0) != 0;
    return (unknown_command ? "unknown subcommand '" + words.front() + "', expected " + subcommands
                            : std::string(error.what())) +
           " (see perm --help)";
}

int parse_and_run(int argc, char **argv, bool &json) {
    Options options;
    CLI::App app("Exact permanents of sparse matrices.", "perm");
    app.footer(footer);
    app.require_subcommand(0, 1);
    app.set_version_flag("--version", std::string("perm ") + perm_version());

    CLI::App *compute = app.add_subcommand("compute", "Compute the permanent of a Matrix Market file");
    CLI::App *explain =
        app.add_subcommand("explain", "Show the plan, its cost and its time, without running it");
    CLI::App *source = app.add_subcommand("source", "Print the CUDA C++ of the kernel that a GPU would run");
    CLI::App *info = app.add_subcommand("info", "Show this build, this machine and its GPUs");
    CLI::App *cache = app.add_subcommand("cache", "Show or clear the folder of compiled kernels");
    CLI::App *list = cache->add_subcommand("list", "Show the kernels in the folder");
    CLI::App *clear = cache->add_subcommand("clear", "Remove the kernels from the folder");
    CLI::App *path = cache->add_subcommand("path", "Print the folder");
    for (CLI::App *command : {compute, explain, source}) add_plan_options(*command, options);
    for (CLI::App *command : {list, clear, path}) add_cache_option(*command, options);
    for (CLI::App *command : {compute, explain, info, list, clear, path}) add_json_option(*command, options);
    add_run_options(*compute, options);
    add_explain_options(*explain, options);
    add_source_options(*source, options);
    for (CLI::App *command : {compute, explain, source, info, cache, list, clear, path})
        command->footer(footer);

    try {
        app.parse(argc, argv);
        // Asked for here and not of the parser, which would then not name a subcommand that it does not know.
        if (app.get_subcommands().empty())
            throw CLI::RequiredError(std::string("a subcommand (") + subcommands + ")");
        if (*cache && cache->get_subcommands().empty())
            throw CLI::RequiredError("a subcommand (list, clear or path)");
    } catch (const CLI::CallForHelp &) {
        write_stdout(app.help());
        return exit_answered;
    } catch (const CLI::CallForVersion &version) {
        write_stdout(version.what());
        return exit_answered;
    } catch (const CLI::ParseError &error) {
        return report_failure(PERM_BAD_OPTION, usage_error(app, error), json);
    }

    json = options.json;
    perm_set_log_level(options.log_level());
    if (*compute) run_compute(options);
    if (*explain) run_explain(options);
    if (*source) run_source(options);
    if (*info) run_info(options.json);
    if (*list) run_cache_list(options);
    if (*clear) run_cache_clear(options);
    if (*path) run_cache_path(options);
    return exit_answered;
}

} // namespace

int main(int argc, char **argv) {
    catch_signals();
    // Known before the arguments are parsed, so that a usage error too is told in JSON.
    bool json = std::any_of(argv, argv + argc, [](std::string_view word) { return word == "--json"; });
    try {
        return parse_and_run(argc, argv, json);
    } catch (const MatrixMarketError &error) {
        return report_failure(PERM_BAD_MATRIX, error.what(), json);
    } catch (const Error &error) {
        return report_failure(error.status(), in_command_terms(error.what()), json);
    } catch (const OutputError &error) {
        write_message(error.what());
        return exit_failed;
    } catch (const std::bad_alloc &) {
        return report_failure(PERM_OUT_OF_MEMORY, "out of memory", json);
    } catch (const std::exception &error) {
        return report_failure(PERM_INTERNAL, error.what(), json);
    }
}
