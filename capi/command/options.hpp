// What the command line asks for.
#pragma once

#include "lib/base/json.hpp"

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

    // "\nto go on: perm compute ...": the command as it was called.
    std::string how_to_go_on() const { return "\nto go on: " + command_line; }
};

// A subcommand, of perm or of perm-mpi: a bit, so that several are a number.
namespace subcommand {
enum : unsigned {
    compute = 1,
    hafnian = compute << 1,
    bounds = hafnian << 1,
    estimate = bounds << 1,
    sample = estimate << 1,
    matchings = sample << 1,
    polynomial = matchings << 1,
    periodic = polynomial << 1,
    explain = periodic << 1,
    source = explain << 1,
    plan = source << 1,
    shard = plan << 1,
    combine = shard << 1,
    status = combine << 1,
    info = status << 1,
    cache = info << 1, // list, clear and path
    mpi_compute = cache << 1,
    mpi_estimate = mpi_compute << 1,
    mpi_matchings = mpi_estimate << 1,
    mpi_periodic = mpi_matchings << 1,
    mpi_sample = mpi_periodic << 1
};
}

// All that it has. `command` outlives neither the options nor what is read of them.
void add_options(CLI::App &command, unsigned subcommand, Options &options);

// The name of the matrix's file, without its folder.
std::string file_name(const Options &options);

// The words of a command line, quoted for a shell where they need it.
std::string shell_words(int count, const char *const *words);

// "20G", "1.5GiB", "500MB", "4096": K and KiB are 1024 bytes, KB is 1000. Throws std::invalid_argument.
std::int64_t parse_bytes(const std::string &text);

// "90", "1.5h", "10m", "2d", "none" for infinity. Throws std::invalid_argument.
double parse_seconds(const std::string &text);

// Which options count for what a subcommand calls: the library's table (PERM_FORMAT_OPTIONS).

class OptionTable {
  public:
    OptionTable();

    // Why none of these calls counts an option of the command, "--engine", and what to do instead; none if
    // one does, or if the table knows nothing of it.
    std::optional<std::string> refusal(const std::vector<std::string> &calls,
                                       const std::string &option) const;

    std::vector<std::string> options() const; // as the command has them

    std::string text() const; // all of it in words

    // Of an option that counts for a call with some values alone: why not with others.
    const std::string &why(const std::string &call, const std::string &option) const;

  private:
    const libperm::Json *rule(const std::string &call, const std::string &option) const; // null: it counts

    libperm::Json table_;
};

} // namespace perm
