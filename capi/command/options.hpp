// What the command line asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace perm {

struct Options {
    std::string command_line;             // all of it, fit for a shell
    std::string file, format;             // "": by its name
    std::string duplicates;               // what becomes of entries given twice; "": they are refused
    std::vector<std::string> parts;       // files
    std::string plan, output, checkpoint; // files; "" for none
    double checkpoint_seconds = 0;
    std::int32_t of = 1, index = 0; // of shard
    std::int32_t gpus = 0;
    std::string plot;                                                        // a file; "" for none
    std::string engine, device, precision, without, decompose, chunks, arch; // "" is the library's default
    std::optional<std::string> cache;                                        // a folder, "" for none
    std::string function;                                                    // what is computed of the matrix
    bool loops = false;                                           // of a hafnian: the diagonal counts
    std::optional<std::string> machine;                           // what its file says
    bool decimal = false;                                         // numbers as they are written
    std::vector<std::int64_t> row_multiplicity, col_multiplicity; // of each line; none: all 1
    std::vector<std::string> row_unmatched, col_unmatched;        // weights as written; none: all are matched
    // Of periodic.
    std::string lattice, head, tail; // its name in place of a file; files
    std::string linear;              // file, of polynomial
    std::optional<std::int64_t> length;
    std::optional<std::int64_t> terms;
    std::int64_t shots = 1; // of sample
    bool wrap = false, generating_function = false, growth = false;
    double tolerance = 0;
    double epsilon = 0, delta = 0; // of estimates; 0 is the library's default
    std::int64_t samples = 0;
    std::string method;
    bool or_estimate = false;                 // of compute
    bool estimate = false, matchings = false; // of shard
    std::int32_t threads = 0;
    std::int64_t memory_bytes = 0;
    double time_limit_seconds = 0;
    std::optional<double> exact_limit_seconds; // of the exact way with --or-estimate
    std::uint64_t seed = 0;
    int verbose = 0;
    bool json = false, quiet = false;
    bool machine_here = false, option_table = false; // of info

    // For perm_set_log_level.
    int log_level() const;
};

// Those of one subcommand alone, or of several.
void add_plan_options(CLI::App &command, Options &options);       // FILE, and all that makes a plan
void add_limit_options(CLI::App &command, Options &options);      // of a run
void add_plan_file_option(CLI::App &command, Options &options);   // --plan
void add_loops_option(CLI::App &command, Options &options);       // of hafnian
void add_unmatched_options(CLI::App &command, Options &options);  // of compute
void add_checkpoint_options(CLI::App &command, Options &options); // of compute, estimate
void add_shard_options(CLI::App &command, Options &options);
void add_sample_options(CLI::App &command, Options &options); // FILE, and what counts for samples
void add_estimate_options(CLI::App &command, Options &options);
void add_or_estimate_option(CLI::App &command, Options &options);                     // of compute
void add_output_option(CLI::App &command, Options &options, const char *description); // -o
void add_parts(CLI::App &command, Options &options);
void add_status_options(CLI::App &command, Options &options);
void add_linear_option(CLI::App &command, Options &options); // of polynomial
void add_periodic_options(CLI::App &command, Options &options);
void add_quiet_option(CLI::App &command, Options &options, const char *description);
void add_machine_option(CLI::App &command, Options &options); // --machine, of what makes a plan alone
void add_info_options(CLI::App &command, Options &options);
void add_source_options(CLI::App &command, Options &options);
void add_explain_options(CLI::App &command, Options &options);

// The name of the matrix's file, without its folder.
std::string file_name(const Options &options);

// --cache, and --json.
void add_cache_option(CLI::App &command, Options &options);
void add_json_option(CLI::App &command, Options &options);

// The words of a command line, quoted for a shell where they need it.
std::string shell_words(int count, const char *const *words);

// "20G", "1.5GiB", "500MB", "4096": K and KiB are 1024 bytes, KB is 1000. Throws std::invalid_argument.
std::int64_t parse_bytes(const std::string &text);

// "90", "1.5h", "10m", "2d", "none" for infinity. Throws std::invalid_argument.
double parse_seconds(const std::string &text);

} // namespace perm
