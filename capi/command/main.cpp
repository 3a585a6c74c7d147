// perm: exact permanents of sparse matrices on the command line.
#include "commands.hpp"
#include "job.hpp"
#include "matrix_file.hpp"
#include "options.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
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

struct Subcommand {
    unsigned bit;
    const char *name; // of one within another two words
    const char *description;
    void (*run)(const Options &); // none: another is expected behind it
};

constexpr Subcommand subcommands[] = {
    {subcommand::compute, "compute", "Compute the permanent of the matrix of a file", run_compute},
    {subcommand::hafnian, "hafnian",
     "Compute the hafnian of the symmetric matrix of a file: its perfect matchings", run_hafnian},
    {subcommand::bounds, "bounds", "Numbers that the permanent of the matrix of a file lies between, at once",
     run_bounds},
    {subcommand::estimate, "estimate",
     "Estimate the permanent of the matrix of a file from samples, with a guarantee", run_estimate},
    {subcommand::sample, "sample", "Draw matchings of the matrix of a file with their exact probabilities",
     run_sample},
    {subcommand::matchings, "matchings",
     "Count the matchings with 0, 1, 2, ... entries of the matrix of a file", run_matchings},
    {subcommand::polynomial, "polynomial", "The coefficients of perm(C + x L), C being the matrix of a file",
     run_polynomial},
    {subcommand::periodic, "periodic", "Permanents of a matrix of equal cells, of any number of them",
     run_periodic},
    {subcommand::explain, "explain", "Show the plan, its cost and its time, without running it", run_explain},
    {subcommand::source, "source", "Print the CUDA C++ of the kernel that a GPU would run", run_source},
    {subcommand::plan, "plan", "Save the plan, for shards on other machines", run_plan},
    {subcommand::shard, "shard",
     "Compute one of N parts of the work, of a permanent or another task, as a job of an array", run_shard},
    {subcommand::combine, "combine", "Put the parts together: the permanent, its estimate or the numbers",
     run_combine},
    {subcommand::status, "status", "Show how far the work of a checkpoint is", run_status},
    {subcommand::info, "info", "Show this build, this machine and its GPUs", run_info},
    {0, "cache", "Show or clear the folder of compiled kernels", nullptr},
    {subcommand::cache, "cache list", "Show the kernels in the folder", run_cache_list},
    {subcommand::cache, "cache clear", "Remove the kernels from the folder", run_cache_clear},
    {subcommand::cache, "cache path", "Print the folder", run_cache_path},
};

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

// "list, clear or path".
std::string choices_within(const CLI::App &app) {
    std::string text;
    const auto all = app.get_subcommands([](const CLI::App *) { return true; });
    for (const CLI::App *one : all)
        text += (text.empty() ? "" : one == all.back() ? " or " : ", ") + one->get_name();
    return text;
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
    return (unknown_command ? "unknown subcommand '" + words.front() + "', expected " + choices_within(app)
                            : std::string(error.what())) +
           " (see perm --help)";
}

// In their order.
std::vector<CLI::App *> add_subcommands(CLI::App &app, Options &options) {
    std::vector<CLI::App *> all;
    const OptionTable table;
    for (const Subcommand &one : subcommands) {
        const std::string name = one.name;
        const auto blank = name.find(' ');
        CLI::App &within = blank == name.npos ? app : *app.get_subcommand(name.substr(0, blank));
        CLI::App *command =
            all.emplace_back(within.add_subcommand(name.substr(blank + 1), one.description)->footer(footer));
        add_options(*command, one.bit, options);
        for (const std::string &option : table.options())
            if (!is_of_part(*command, option) && table.refusal(calls_of(command->get_name()), option))
                if (CLI::Option *counting_for_others = command->get_option_no_throw(option))
                    command->remove_option(counting_for_others);
    }
    return all;
}

int parse_and_run(int argc, char **argv, bool &json) {
    Options options;
    options.command_line = shell_words(argc, argv);
    CLI::App app("Exact permanents of sparse matrices.", "perm");
    app.footer(footer);
    app.require_subcommand(0, 1);
    app.set_version_flag("--version", std::string("perm ") + perm_version());
    const std::vector<CLI::App *> all = add_subcommands(app, options);

    try {
        app.parse(argc, argv);
        // Asked for here and not of the parser, which would then not name a subcommand that it does not know.
        for (const CLI::App *asked = &app; !asked->get_subcommands({}).empty();) {
            const auto words = asked->get_subcommands();
            if (words.empty()) throw CLI::RequiredError("a subcommand (" + choices_within(*asked) + ")");
            asked = words.front();
        }
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
        for (std::size_t k = 0; k < all.size(); ++k)
            if (*all[k] && subcommands[k].run) subcommands[k].run(options);
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
    return guarded(
        [&] { return parse_and_run(argc, argv, json); },
        [&](perm_status status, const std::string &text) { return report_failure(status, text, json); });
}
