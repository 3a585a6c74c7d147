#include "options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace perm {
namespace {

// Splits a text into a number of at least 0 and the unit that follows it.
std::pair<double, std::string> split_unit(const std::string &text) {
    double number = 0;
    const char *last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    if (error != std::errc{} || !std::isfinite(number) || std::signbit(number))
        throw std::invalid_argument("'" + text + "' is not a number of at least 0");
    return {number, std::string(end, last)};
}

// Reads all of a text as a number.
template <class Number> Number parse_all(const std::string &text, const char *kind) {
    Number number{};
    const char *last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    if (end == last && error == std::errc::result_out_of_range)
        throw std::invalid_argument("'" + text + "' is out of range");
    if (end != last || error != std::errc{}) throw std::invalid_argument("'" + text + "' is not " + kind);
    return number;
}

template <class Integer> Integer parse_whole(const std::string &text) {
    return parse_all<Integer>(text,
                              std::is_signed_v<Integer> ? "a whole number" : "a whole number of at least 0");
}

double parse_number(const std::string &text) { return parse_all<double>(text, "a number"); }

// Reads whole numbers of at least 0, with commas between: "1,2,0".
std::vector<std::int64_t> parse_multiplicities(std::string text) {
    std::vector<std::int64_t> numbers;
    text += ',';
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
        end = text.find(',', begin);
        const std::string word = text.substr(begin, end - begin);
        numbers.push_back(parse_whole<std::int64_t>(word));
        if (numbers.back() < 0)
            throw std::invalid_argument("'" + word + "' is not a whole number of at least 0");
    }
    return numbers;
}

// Reads all of a file or a pipe, of some kB; a device may have no end.
std::string read_text(const std::string &file) {
    constexpr std::size_t most = 1 << 20;
    std::ifstream in(file, std::ios::binary);
    std::string text(most + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!in.is_open() || in.bad()) throw std::invalid_argument("cannot read '" + file + "'");
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() > most) throw std::invalid_argument("'" + file + "' is longer than any machine's file");
    return text;
}

// Adds an option whose text `parse` turns into `target`.
template <class Target, class Parse>
void add_parsed(CLI::App &command, const char *name, Target &target, const Parse &parse, const char *type,
                const char *description) {
    command
        .add_option_function<std::string>(
            name,
            [&target, parse, name](const std::string &text) {
                try {
                    target = parse(text);
                } catch (const std::invalid_argument &error) {
                    throw CLI::ValidationError(name, error.what());
                }
            },
            description)
        ->type_name(type);
}

// Compute and shard keep what is done.
void add_every_option(CLI::App &command, Options &options) {
    add_parsed(command, "--checkpoint-every", options.checkpoint_seconds, parse_seconds, "TIME",
               "write what is done no more often than this, 1m if not given");
}

// Reads one of these words.
auto one_of(std::vector<std::string> words) {
    return [words = std::move(words)](const std::string &text) {
        std::string expected;
        for (const std::string &word : words) {
            if (word == text) return text;
            expected += (expected.empty() ? "" : ", ") + word;
        }
        throw std::invalid_argument("'" + text + "' is none of " + expected);
    };
}

// Of whatever file a command reads.
void add_reading_options(CLI::App &command, Options &options) {
    add_parsed(command, "--format", options.format,
               one_of({"mtx", "csv", "tsv", "npy", "npz", "edges", "dimacs", "col"}), "NAME",
               "read a file as if its name ended with this: mtx, csv, tsv, npy, npz; edges ('u v' or 'u v w' "
               "of a graph), dimacs, col");
    add_parsed(command, "--duplicates", options.duplicates, one_of({"refuse", "sum", "once"}), "RULE",
               "of entries that a file gives more than once: refuse; sum; once, where they are equal");
}

// Several GPUs are for plans alone.
void add_one_device_option(CLI::App &command, Options &options) {
    command
        .add_option("--device", options.device,
                    "auto: a GPU where there is one and it is worth it; cpu; gpu: the first")
        ->type_name("NAME");
}

void need_estimate(CLI::App &command, CLI::Option *estimate) {
    for (const char *name : {"--epsilon", "--delta", "--method", "--samples"})
        command.get_option(name)->needs(estimate);
}

} // namespace

int Options::log_level() const {
    constexpr int errors = 1, warnings = 2, details = 4;
    return quiet ? errors : std::min(warnings + verbose, details);
}

std::int64_t parse_bytes(const std::string &text) {
    auto [number, unit] = split_unit(text);
    std::transform(unit.begin(), unit.end(), unit.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    double bytes = number;
    if (!unit.empty() && unit != "B") {
        const std::string prefixes = "KMGT";
        const auto power = prefixes.find(unit[0]);
        const std::string rest = unit.substr(1);
        if (power == prefixes.npos || (!rest.empty() && rest != "B" && rest != "IB"))
            throw std::invalid_argument("'" + text +
                                        "' has an unknown unit, expected K, M, G or T (powers of 1024), also "
                                        "written KiB, or KB (powers of 1000)");
        bytes *= std::pow(rest == "B" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
    }
    if (bytes >= 0x1p63) throw std::invalid_argument("'" + text + "' is more memory than any machine has");
    if (number > 0 && bytes < 1) throw std::invalid_argument("'" + text + "' is less than a byte");
    return static_cast<std::int64_t>(bytes);
}

double parse_seconds(const std::string &text) {
    if (text == "none" || text == "inf") return std::numeric_limits<double>::infinity();
    const auto [number, unit] = split_unit(text);
    if (unit.empty() || unit == "s") return number;
    if (unit == "m") return number * 60;
    if (unit == "h") return number * 3600;
    if (unit == "d") return number * 86400;
    throw std::invalid_argument("'" + text + "' has an unknown unit, expected s, m, h or d");
}

void add_function_option(CLI::App &command, Options &options) {
    command
        .add_option("--function", options.function,
                    "what it is of: permanent; of a symmetric matrix hafnian, or loop_hafnian: of the graph "
                    "whose lines are matched to each other")
        ->type_name("NAME");
}

void add_file_options(CLI::App &command, Options &options) {
    command
        .add_option(
            "FILE", options.file,
            "matrix: Matrix Market (.mtx), .csv, .tsv, .npy or .npz, or of a graph .edges, .dimacs or "
            ".col; or .gz behind it; - reads Matrix Market from the standard input")
        ->required();
    add_reading_options(command, options);
}

void add_plan_options(CLI::App &command, Options &options) {
    add_file_options(command, options);
    command
        .add_option("--engine", options.engine,
                    "auto; frontier, tree or sieve, of hafnians bjorklund; on the CPU alone ryser, planar, "
                    "background, low_rank, ferrers or separable, of hafnians hermite; on a GPU alone hybrid, "
                    "purereg, dense or shared")
        ->type_name("NAME");
    command
        .add_option("--device", options.device,
                    "auto: a GPU where there is one and it is worth it; cpu; gpu: the first; gpu:0,1 or "
                    "gpu:all: these or all together; gpu:all+cpu: the processor too (engine tree)")
        ->type_name("NAME");
    command
        .add_option("--precision", options.precision,
                    "auto: double, and again with more where the tolerance is missed; double; kahan, dq: "
                    "terms summed in twice the precision; dd: all in twice the precision; exact: integers "
                    "and fractions; mod:P: these modulo a prime; mpfr:BITS: exact, rounded to so many bits")
        ->type_name("NAME");
    add_parsed(command, "--tolerance", options.tolerance, parse_number, "T",
               "requested relative error, 1e-9 if not given");
    command.add_flag("--decimal", options.decimal,
                     "take the numbers of the file exactly as they are written, 0.1 as one tenth, and not as "
                     "the nearest doubles");
    add_parsed(
        command, "--row-multiplicity", options.row_multiplicity, parse_multiplicities, "LIST",
        "how often each row counts, with commas between: 2,0,1 is the first row twice, the second not");
    add_parsed(command, "--col-multiplicity", options.col_multiplicity, parse_multiplicities, "LIST",
               "how often each column counts");
    add_function_option(command, options);
    add_parsed(command, "--seed", options.seed, parse_whole<std::uint64_t>, "N",
               "of the search for a good order, and of the samples of an estimate");
    command
        .add_option("--without", options.without,
                    "reductions to leave out, with commas between them: matching, dm, d1, d2, fm, merge, "
                    "scaling, periodic, structure; all")
        ->type_name("NAMES");
    command
        .add_option(
            "--decompose", options.decompose,
            "auto, or paper: expand rows and columns of at most 4 entries down to n = 30, as SUperman does")
        ->type_name("RULE");
    command
        .add_option("--chunks", options.chunks,
                    "of subsets for each thread of a GPU: ceg, a power of two, so that the threads of a warp "
                    "change the same column; or equal, to see what that is worth")
        ->type_name("NAME");
    add_limit_options(command, options);
    add_cache_option(command, options);
}

void add_estimate_options(CLI::App &command, Options &options) {
    const auto parse_share = [](const std::string &text) {
        const double number = parse_number(text);
        if (!(number > 0 && number < 1))
            throw std::invalid_argument("'" + text + "' is not above 0 and below 1");
        return number;
    };
    add_parsed(command, "--epsilon", options.epsilon, parse_share, "E",
               "relative error of an estimate, 0.01 if not given; of matrices with negative or complex "
               "entries a share of the estimate's scale");
    add_parsed(command, "--delta", options.delta, parse_share, "D",
               "probability that its error is larger, 0.05 if not given");
    command
        .add_option("--method", options.method,
                    "of an estimate: auto; nesting or rejection, of nonnegative matrices; glynn")
        ->type_name("NAME");
    add_parsed(command, "--samples", options.samples, parse_whole<std::int64_t>, "N",
               "at most so many, as many as the guarantee takes if not given");
}

void add_or_estimate_option(CLI::App &command, Options &options) {
    CLI::Option *estimate = command.add_flag(
        "--or-estimate", options.or_estimate,
        "where the computation is refused or takes longer than --exact-limit: an estimate (perm estimate)");
    need_estimate(command, estimate);
    add_parsed(command, "--exact-limit", options.exact_limit_seconds, parse_seconds, "TIME",
               "what the computation may take with --or-estimate: 1m if not given, but half of --time-limit "
               "at most; the rest of --time-limit is the estimate's");
    command.get_option("--exact-limit")->needs(estimate);
}

void add_limit_options(CLI::App &command, Options &options) {
    add_parsed(command, "--threads", options.threads, parse_whole<std::int32_t>, "N",
               "threads, one for each core if not given");
    add_parsed(command, "--memory", options.memory_bytes, parse_bytes, "BYTES",
               "memory of the whole call on the CPU, such as 512M, 20G or 1.5GiB; three quarters of the "
               "machine's if not given");
    add_parsed(command, "--time-limit", options.time_limit_seconds, parse_seconds, "TIME",
               "seconds, or such as 10m, 2h, 3d; none or inf for no limit; if not given, compute refuses "
               "what is predicted to take more than a day");
    command.add_flag("-v,--verbose", options.verbose, "log decisions to stderr; twice: details");
}

void add_plan_file_option(CLI::App &command, Options &options) {
    command.add_option("--plan", options.plan, "take the plan of this file, which perm plan wrote")
        ->type_name("PLAN");
}

void add_loops_option(CLI::App &command, Options &options) {
    command.add_flag(
        "--loops", options.loops,
        "of the loop hafnian: a line may stay single, at the price of its entry on the diagonal, or of "
        "its weight in --row-unmatched");
}

void add_unmatched_options(CLI::App &command, Options &options) {
    const auto add = [&](const char *name, std::vector<std::string> &weights, const char *what) {
        CLI::Option *option = command.add_option(name, weights, what)->delimiter(',')->type_name("LIST");
        if (CLI::Option *plan = command.get_option_no_throw("--plan")) option->excludes(plan);
    };
    add("--row-unmatched", options.row_unmatched,
        "weights of leaving rows unmatched: one for each, with commas between, or one for all; then the sum "
        "is over all matchings");
    add("--col-unmatched", options.col_unmatched, "weights of leaving columns unmatched");
}

void add_linear_option(CLI::App &command, Options &options) {
    command
        .add_option("--linear", options.linear,
                    "the file of the matrix that x stands with; of the unit matrix if not given")
        ->type_name("FILE");
}

void add_checkpoint_options(CLI::App &command, Options &options) {
    command
        .add_option("--checkpoint", options.checkpoint,
                    "keep what is done in this file, and go on from it if it is there")
        ->type_name("FILE")
        ->check([](const std::string &file) { return file.empty() ? "a file's name is expected" : ""; });
    add_every_option(command, options);
    command.get_option("--checkpoint-every")->needs("--checkpoint");
}

void add_shard_options(CLI::App &command, Options &options) {
    add_parsed(command, "--of", options.of, parse_whole<std::int32_t>, "N",
               "in how many the work is divided");
    add_parsed(command, "--index", options.index, parse_whole<std::int32_t>, "K",
               "which of them to do, from 0 to N - 1");
    CLI::Option *estimate =
        command
            .add_flag("--estimate", options.estimate,
                      "the samples of an estimate (perm estimate) rather than a computation")
            ->excludes(command.get_option("--plan"));
    command
        .add_flag("--matchings", options.matchings,
                  "numbers of matchings (perm matchings) rather than a computation")
        ->excludes(command.get_option("--plan"), estimate);
    need_estimate(command, estimate);
    for (const char *name : {"--of", "--index"}) command.get_option(name)->required();
    add_every_option(command, options);
}

void add_sample_options(CLI::App &command, Options &options) {
    add_file_options(command, options);
    add_parsed(command, "--shots", options.shots, parse_whole<std::int64_t>, "N",
               "so many samples, 1 if not given");
    add_parsed(command, "--seed", options.seed, parse_whole<std::uint64_t>, "N",
               "the same samples follow from the same seed; 0 if not given");
    add_function_option(command, options);
    add_one_device_option(command, options);
    add_cache_option(command, options);
    add_limit_options(command, options);
}

void add_output_option(CLI::App &command, Options &options, const char *description) {
    command.add_option("-o,--output", options.output, description)->type_name("OUT")->required();
}

void add_parts(CLI::App &command, Options &options) {
    command.add_option("PART", options.parts, "files of perm shard, in any order")->required();
}

void add_status_options(CLI::App &command, Options &options) {
    command.add_option("CHECKPOINT", options.file, "file that --checkpoint named")->required();
}

void add_explain_options(CLI::App &command, Options &options) {
    command
        .add_option("--plot", options.plot,
                    "draw the patterns, the frontier and the engines' times; needs gnuplot")
        ->type_name("FILE.svg|.png|.pdf");
    add_parsed(command, "--gpus", options.gpus, parse_whole<std::int32_t>, "N",
               "predict for so many GPUs, such as a cluster has; those of --device if not given");
}

void add_periodic_options(CLI::App &command, Options &options) {
    command.add_option("CELL", options.file,
                       "file of a matrix of r rows and r (2 d + 1) columns: the blocks that couple a cell "
                       "to the cells -d, ..., 0, ..., d, side by side; - reads the standard input");
    add_reading_options(command, options);
    command
        .add_option(
            "--lattice", options.lattice,
            "a cell by its name in place of a file: grid:W, grid:AxB, ring:W, ring:AxB (a ring of A by B): "
            "the perfect matchings of a lattice whose cross-section that is; hexagonal:W; circulant:K: K "
            "ones in a row; toeplitz:A,B: ones from A below the diagonal to B above it")
        ->type_name("NAME");
    command.add_option("--head", options.head, "what stands before the first cell")->type_name("FILE");
    command.add_option("--tail", options.tail, "what stands behind the last cell")->type_name("FILE");
    add_parsed(
        command, "--length", options.length,
        [](const std::string &text) { return std::optional(parse_whole<std::int64_t>(text)); }, "M",
        "the permanent of so many cells");
    command.add_flag("--wrap", options.wrap, "join the ends: the cell behind the last is the first");
    add_parsed(
        command, "--terms", options.terms,
        [](const std::string &text) { return std::optional(parse_whole<std::int64_t>(text)); }, "K",
        "the permanents of 1, 2, ..., K cells");
    command.add_flag("--generating-function", options.generating_function,
                     "those of all lengths, as a quotient of polynomials");
    command.add_flag("--growth", options.growth,
                     "by what factor the permanent grows with each cell, in a bracket");
    add_one_device_option(command, options);
    command
        .add_option("--precision", options.precision,
                    "auto: whole numbers exactly where that takes seconds, else double, and dd where the "
                    "tolerance is missed; double; dd; exact; mod:P: modulo a prime")
        ->type_name("NAME");
    add_parsed(command, "--tolerance", options.tolerance, parse_number, "T",
               "requested relative error, 1e-9 if not given");
    command.add_flag("--decimal", options.decimal,
                     "take the numbers of the files exactly as they are written");
    add_limit_options(command, options);
    add_cache_option(command, options);
}

std::string file_name(const Options &options) {
    return options.file == "-" ? "stdin" : std::filesystem::path(options.file).filename().string();
}

void add_machine_option(CLI::App &command, Options &options) {
    add_parsed(command, "--machine", options.machine, read_text, "FILE",
               "plan for the machine of this file, which perm info --machine wrote there");
}

void add_info_options(CLI::App &command, Options &options) {
    command.add_flag("--machine", options.machine_here,
                     "this machine alone, as the option --machine of explain, source and plan reads it");
    command.add_flag(
        "--options", options.option_table,
        "what each option may be, and which count for which call of the library, as the subcommand makes it");
}

void add_source_options(CLI::App &command, Options &options) {
    command
        .add_option(
            "--arch", options.arch,
            "sm_90, compute_90, ...; if not given, that of the first GPU, or the newest that NVRTC knows")
        ->type_name("TARGET");
}

void add_cache_option(CLI::App &command, Options &options) {
    command
        .add_option("--cache", options.cache,
                    "folder of compiled kernels and found orders; if not given, $PERM_CACHE_DIR, "
                    "$XDG_CACHE_HOME/libperm or "
                    "~/.cache/libperm; '' for none")
        ->type_name("DIR");
}

void add_json_option(CLI::App &command, Options &options) {
    command.add_flag("--json", options.json, "one JSON object on the standard output");
}

void add_quiet_option(CLI::App &command, Options &options, const char *description) {
    command.add_flag("-q,--quiet", options.quiet, description);
}

std::string shell_words(int count, const char *const *words) {
    constexpr const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%";
    std::string text;
    for (int k = 0; k < count; ++k) {
        const std::string word = words[k];
        text += k == 0 ? "" : " ";
        if (!word.empty() && word.find_first_not_of(plain) == word.npos) {
            text += word;
            continue;
        }
        text += '\'';
        for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
        text += '\'';
    }
    return text;
}

} // namespace perm
