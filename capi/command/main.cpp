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
    "3 refused as too large for the limits, 130 cancelled.\n"
    "In JSON, a number beyond the range of double precision is null: \"permanent\" holds it as text, and\n"
    "\"mantissa\" times 2 to the power \"exp2\" is its value. A failure is {\"error\": {\"status\", "
    "\"code\", \"text\"}}.";

// What is wrong with the command line, and whose help says what is right.
std::string usage_error(const CLI::App &app, const CLI::ParseError &error) {
    const auto commands = app.get_subcommands();
    if (!commands.empty())
        return std::string(error.what()) + " (see perm " + commands.front()->get_name() + " --help)";
    const auto words = app.remaining();
    const bool unknown_command = !words.empty() && words.front().rfind('-', 0) != 0;
    return (unknown_command ? "unknown subcommand '" + words.front() + "', expected compute, explain or info"
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
    CLI::App *info = app.add_subcommand("info", "Show this build and this machine");
    add_plan_options(*compute, options);
    add_run_options(*compute, options);
    add_plan_options(*explain, options);
    info->add_flag("--json", options.json, "one JSON object on the standard output");
    for (CLI::App *command : {compute, explain, info}) command->footer(footer);

    try {
        app.parse(argc, argv);
        // Asked for here and not of the parser, which would then not name a subcommand that it does not know.
        if (app.get_subcommands().empty())
            throw CLI::RequiredError("a subcommand (compute, explain or info)");
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
    if (*info) run_info(options.json);
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
