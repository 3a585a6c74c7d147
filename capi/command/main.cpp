// perm: exact permanents of sparse matrices on the command line.
#include "commands.hpp"
#include "file_error.hpp"
#include "interrupt.hpp"
#include "job.hpp"
#include "matrix_file.hpp"
#include "option_table.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <vector>

namespace {

using namespace perm;

const char *const footer =
    "Exit status: 0 answered, 1 the machine or the program failed, 2 bad input or usage,\n"
    "3 refused: beyond the limits, or not to be had here (no GPU), 130 cancelled.\n"
    "In JSON, a number beyond the range of double precision is null: \"permanent\" holds it as text, and\n"
    "\"mantissa\" and \"mantissa_imag\" times 2 to the power \"exp2\" are its parts. A failure is\n"
    "{\"error\": {\"status\", \"code\", \"text\"}}.";

const char *const subcommands = "compute, hafnian, bounds, estimate, sample, matchings, polynomial, "
                                "periodic, explain, source, plan, shard, "
                                "combine, status, info or cache";

// What a subcommand calls with its options: those that count for none of these are no options of it.
std::vector<std::string> calls_of(const std::string &command) {
    if (command == "explain" || command == "source" || command == "plan") return {"perm_plan_create"};
    if (command == "hafnian") return {"perm_compute"};
    if (command == "shard") return {"shards of perm_task_plan", "shards of perm_task_estimate"};
    if (command == "periodic") return {"perm_periodic_execute"};
    return {"perm_" + command};
}

// A part's file is written now and then, whatever the library keeps.
bool is_of_part(const CLI::App &command, const std::string &option) {
    return command.get_name() == "shard" && option == "--checkpoint-every";
}

// The first that a command does not have, or none.
std::string unknown_option(const CLI::App &command) {
    for (const std::string &word : command.remaining())
        if (word.size() > 1 && word.front() == '-') return word;
    return "";
}

// Which other subcommands have it.
std::string owners_of(const CLI::App &app, const std::string &option) {
    std::vector<std::string> names;
    for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
        if (command->get_option_no_throw(option)) names.push_back("perm " + command->get_name());
    if (names.empty()) return "";
    const std::string last = names.back();
    names.pop_back();
    return fmt::format(", an option of {}{}{}", fmt::join(names, ", "), names.empty() ? "" : " and ", last);
}

// What is wrong with the command line, and whose help says what is right.
std::string usage_error(const CLI::App &app, const CLI::ParseError &error) {
    std::string command = "perm";
    const CLI::App *deepest = &app;
    while (!deepest->get_subcommands().empty()) {
        deepest = deepest->get_subcommands().front();
        command += " " + deepest->get_name();
    }
    if (const std::string word = unknown_option(*deepest); !word.empty()) {
        const std::string option = word.substr(0, word.find('='));
        if (const auto why = OptionTable().refusal(calls_of(deepest->get_name()), option))
            return option + " does not count for " + command + ": " + *why + " (see " + command + " --help)";
        return "unknown option " + option + owners_of(app, option) + " (see " + command + " --help)";
    }
    if (deepest != &app) return std::string(error.what()) + " (see " + command + " --help)";
    const auto words = app.remaining();
    const bool unknown_command = !words.empty() && words.front().rfind('-', 0) != 0;
    return (unknown_command ? "unknown subcommand '" + words.front() + "', expected " + subcommands
                            : std::string(error.what())) +
           " (see perm --help)";
}

struct Subcommand {
    CLI::App *command;
    std::function<void()> run;
};

std::vector<Subcommand> add_subcommands(CLI::App &app, Options &options) {
    const std::string quiet = "no progress, no log but errors; a missed tolerance is still reported";
    const auto add = [&](const char *name, const char *description) {
        CLI::App *command = app.add_subcommand(name, description);
        command->footer(footer);
        return command;
    };
    CLI::App *compute = add("compute", "Compute the permanent of the matrix of a file");
    CLI::App *hafnian =
        add("hafnian", "Compute the hafnian of the symmetric matrix of a file: its perfect matchings");
    CLI::App *bounds =
        add("bounds", "Numbers that the permanent of the matrix of a file lies between, at once");
    CLI::App *estimate =
        add("estimate", "Estimate the permanent of the matrix of a file from samples, with a guarantee");
    CLI::App *sample = add("sample", "Draw matchings of the matrix of a file with their exact probabilities");
    CLI::App *matchings =
        add("matchings", "Count the matchings with 0, 1, 2, ... entries of the matrix of a file");
    CLI::App *polynomial =
        add("polynomial", "The coefficients of perm(C + x L), C being the matrix of a file");
    CLI::App *periodic = add("periodic", "Permanents of a matrix of equal cells, of any number of them");
    CLI::App *explain = add("explain", "Show the plan, its cost and its time, without running it");
    CLI::App *source = add("source", "Print the CUDA C++ of the kernel that a GPU would run");
    CLI::App *plan = add("plan", "Save the plan, for shards on other machines");
    CLI::App *shard = add(
        "shard", "Compute one of N parts of the work, of a permanent or another task, as a job of an array");
    CLI::App *combine = add("combine", "Put the parts together: the permanent, its estimate or the numbers");
    CLI::App *status = add("status", "Show how far the work of a checkpoint is");
    CLI::App *info = add("info", "Show this build, this machine and its GPUs");
    CLI::App *cache = add("cache", "Show or clear the folder of compiled kernels");
    CLI::App *list = cache->add_subcommand("list", "Show the kernels in the folder");
    CLI::App *clear = cache->add_subcommand("clear", "Remove the kernels from the folder");
    CLI::App *path = cache->add_subcommand("path", "Print the folder");

    for (CLI::App *command :
         {compute, hafnian, bounds, estimate, matchings, polynomial, explain, source, plan, shard})
        add_plan_options(*command, options);
    for (CLI::App *command : {compute, shard}) add_plan_file_option(*command, options);
    for (CLI::App *command : {explain, source, plan}) add_machine_option(*command, options);
    add_info_options(*info, options);
    for (CLI::App *command : {compute, combine})
        add_quiet_option(*command, options, ("print the permanent alone; " + quiet).c_str());
    add_quiet_option(*hafnian, options, ("print the hafnian alone; " + quiet).c_str());
    add_loops_option(*hafnian, options);
    for (CLI::App *command : {compute, estimate, shard}) add_estimate_options(*command, options);
    add_or_estimate_option(*compute, options);
    add_quiet_option(*estimate, options, ("print the estimate alone; " + quiet).c_str());
    add_periodic_options(*periodic, options);
    add_quiet_option(*bounds, options, ("print the two numbers alone; " + quiet).c_str());
    add_sample_options(*sample, options);
    add_quiet_option(*sample, options, ("the samples alone; " + quiet).c_str());
    add_quiet_option(*matchings, options, ("print the numbers alone; " + quiet).c_str());
    add_linear_option(*polynomial, options);
    add_quiet_option(*polynomial, options, ("print the coefficients alone; " + quiet).c_str());
    add_quiet_option(*periodic, options, ("print the numbers alone; " + quiet).c_str());
    add_quiet_option(*shard, options, "print nothing; no progress, no log but errors");
    for (CLI::App *command : {compute, hafnian, estimate, sample, matchings, polynomial, periodic})
        add_checkpoint_options(*command, options);
    for (CLI::App *command : {compute, hafnian, bounds, estimate, sample, polynomial, explain})
        add_unmatched_options(*command, options);
    for (const char *name : {"--function", "--col-multiplicity", "--col-unmatched"}) // its lines are its rows
        hafnian->remove_option(hafnian->get_option(name));
    add_explain_options(*explain, options);
    add_source_options(*source, options);
    add_output_option(*plan, options, "the file for it");
    add_shard_options(*shard, options);
    add_output_option(*shard, options, "the file of the part; what is done in it is not done again");
    add_parts(*combine, options);
    add_limit_options(*combine, options);
    add_cache_option(*combine, options);
    add_status_options(*status, options);
    for (CLI::App *command : {list, clear, path}) {
        command->footer(footer);
        add_cache_option(*command, options);
    }
    for (CLI::App *command : {compute, hafnian, bounds, estimate, sample, matchings, polynomial, periodic,
                              explain, combine, status, info, list, clear, path})
        add_json_option(*command, options);
    const OptionTable table;
    for (CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
        for (const std::string &name : table.options())
            if (!is_of_part(*command, name) && table.refusal(calls_of(command->get_name()), name))
                if (CLI::Option *option = command->get_option_no_throw(name)) command->remove_option(option);
    return {{compute, [&] { run_compute(options); }},
            {hafnian, [&] { run_hafnian(options); }},
            {bounds, [&] { run_bounds(options); }},
            {estimate, [&] { run_estimate(options); }},
            {sample, [&] { run_sample(of_matchings(options)); }},
            {polynomial, [&] { run_polynomial(options); }},
            {periodic, [&] { run_periodic(options); }},
            {matchings, [&] { run_matchings(of_matchings(options)); }},
            {explain, [&] { run_explain(options); }},
            {source, [&] { run_source(options); }},
            {plan, [&] { run_plan(options); }},
            {shard, [&] { run_shard(options.matchings ? of_matchings(options) : options); }},
            {combine, [&] { run_combine(options); }},
            {status, [&] { run_status(options); }},
            {info, [&] { run_info(options); }},
            {list, [&] { run_cache_list(options); }},
            {clear, [&] { run_cache_clear(options); }},
            {path, [&] { run_cache_path(options); }}};
}

int parse_and_run(int argc, char **argv, bool &json) {
    Options options;
    options.command_line = shell_words(argc, argv);
    CLI::App app("Exact permanents of sparse matrices.", "perm");
    app.footer(footer);
    app.require_subcommand(0, 1);
    app.set_version_flag("--version", std::string("perm ") + perm_version());
    const std::vector<Subcommand> all = add_subcommands(app, options);

    try {
        app.parse(argc, argv);
        // Asked for here and not of the parser, which would then not name a subcommand that it does not know.
        if (app.get_subcommands().empty())
            throw CLI::RequiredError(std::string("a subcommand (") + subcommands + ")");
        if (const CLI::App *cache = app.get_subcommand("cache"); *cache && cache->get_subcommands().empty())
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
    try {
        for (const Subcommand &one : all)
            if (*one.command) one.run();
    } catch (const Error &error) {
        throw Error(error.status(), in_terms_of_file(error.what(), options.file, options.format));
    }
    return exit_answered;
}

} // namespace

int main(int argc, char **argv) {
    catch_signals();
    // Known before the arguments are parsed, so that a usage error too is told in JSON.
    bool json = std::any_of(argv, argv + argc, [](std::string_view word) { return word == "--json"; });
    try {
        return parse_and_run(argc, argv, json);
    } catch (const Reported &failed) {
        return failed.code;
    } catch (const FileError &error) {
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
