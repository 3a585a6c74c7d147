#include "options.hpp"

#include "output.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <limits>
#include <perm.hpp>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

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

namespace {

double parse_share(const std::string &text) {
    const double number = parse_number(text);
    if (!(number > 0 && number < 1)) throw std::invalid_argument("'" + text + "' is not above 0 and below 1");
    return number;
}

// An option of some subcommands. What its words are follows from the member that they are kept in, and from
// what they are called: a TIME is given in seconds or with a unit.
struct Row {
    unsigned subcommands;
    const char *name, *type; // type: what its value is called; nullptr: as CLI11 calls it
    std::variant<bool Options::*, std::int32_t Options::*, std::int64_t Options::*, std::uint64_t Options::*,
                 double Options::*, std::string Options::*, std::vector<std::int64_t> Options::*,
                 std::vector<std::string> Options::*, std::optional<std::int64_t> Options::*,
                 std::optional<double> Options::*, std::optional<std::string> Options::*>
        member;
    const char *description;
    const char *words = ""; // all that there are, by commas
};

} // namespace

namespace subcommand {
namespace {

constexpr unsigned of_plans = compute | hafnian | bounds | estimate | matchings | polynomial | explain |
                              source | plan | shard | mpi_compute | mpi_estimate | mpi_matchings;
constexpr unsigned of_samples = sample | mpi_sample, of_cells = periodic | mpi_periodic;
constexpr unsigned of_files = of_plans | of_samples | of_cells;
constexpr unsigned of_estimates = compute | estimate | shard | mpi_estimate;
constexpr unsigned kept = compute | hafnian | estimate | sample | matchings | polynomial | periodic |
                          mpi_compute | mpi_estimate | mpi_matchings | mpi_periodic | mpi_sample;
constexpr unsigned unmatched = compute | hafnian | bounds | estimate | sample | polynomial | explain;
constexpr const char *flag = nullptr, *text = nullptr;

constexpr Row rows[] = {
    {of_plans | of_samples, "FILE", text, &Options::file,
     "matrix: Matrix Market (.mtx), .csv, .tsv, .npy or .npz, or of a graph .edges, .dimacs or "
     ".col; or .gz behind it; - reads Matrix Market from the standard input"},
    {of_cells, "CELL", text, &Options::file,
     "file of a matrix of r rows and r (2 d + 1) columns: the blocks that couple a cell "
     "to the cells -d, ..., 0, ..., d, side by side; - reads the standard input"},
    {combine, "PART", text, &Options::parts, "files of perm shard, in any order"},
    {status, "CHECKPOINT", text, &Options::file, "file that --checkpoint named"},
    {of_files, "--format", "NAME", &Options::format,
     "read a file as if its name ended with this: mtx, csv, tsv, npy, npz; edges ('u v' or 'u v w' "
     "of a graph), dimacs, col",
     "mtx, csv, tsv, npy, npz, edges, dimacs, col"},
    {of_files, "--duplicates", "RULE", &Options::duplicates,
     "of entries that a file gives more than once: refuse; sum; once, where they are equal",
     "refuse, sum, once"},
    {of_cells, "--lattice", "NAME", &Options::lattice,
     "a cell by its name in place of a file: grid:W, grid:AxB, ring:W, ring:AxB (a ring of A by B): "
     "the perfect matchings of a lattice whose cross-section that is; hexagonal:W; circulant:K: K "
     "ones in a row; toeplitz:A,B: ones from A below the diagonal to B above it"},
    {of_cells, "--head", "FILE", &Options::head, "what stands before the first cell"},
    {of_cells, "--tail", "FILE", &Options::tail, "what stands behind the last cell"},
    {of_cells, "--length", "M", &Options::length, "the permanent of so many cells"},
    {of_cells, "--wrap", flag, &Options::wrap, "join the ends: the cell behind the last is the first"},
    {of_cells, "--terms", "K", &Options::terms, "the permanents of 1, 2, ..., K cells"},
    {periodic, "--generating-function", flag, &Options::generating_function,
     "those of all lengths, as a quotient of polynomials"},
    {periodic, "--growth", flag, &Options::growth,
     "by what factor the permanent grows with each cell, in a bracket"},
    {of_samples, "--shots", "N", &Options::shots, "so many samples, 1 if not given"},
    {of_plans, "--engine", "NAME", &Options::engine,
     "auto; frontier, tree or sieve, of hafnians bjorklund; on the CPU alone ryser, planar, "
     "background, low_rank, ferrers or separable, of hafnians hermite; on a GPU alone hybrid, "
     "purereg, dense or shared"},
    {of_plans, "--device", "NAME", &Options::device,
     "auto: a GPU where there is one and it is worth it; cpu; gpu: the first; gpu:0,1 or "
     "gpu:all: these or all together; gpu:all+cpu: the processor too (engine tree)"},
    {of_samples | of_cells, "--device", "NAME", &Options::device,
     "auto: a GPU where there is one and it is worth it; cpu; gpu: the first"},
    {of_plans, "--precision", "NAME", &Options::precision,
     "auto: double, and again with more where the tolerance is missed; double; kahan, dq: "
     "terms summed in twice the precision; dd: all in twice the precision; exact: integers "
     "and fractions; mod:P: these modulo a prime; mpfr:BITS: exact, rounded to so many bits"},
    {of_cells, "--precision", "NAME", &Options::precision,
     "auto: whole numbers exactly where that takes seconds, else double, and dd where the "
     "tolerance is missed; double; dd; exact; mod:P: modulo a prime"},
    {of_plans | of_cells, "--tolerance", "T", &Options::tolerance,
     "requested relative error, 1e-9 if not given"},
    {of_plans, "--decimal", flag, &Options::decimal,
     "take the numbers of the file exactly as they are written, 0.1 as one tenth, and not as "
     "the nearest doubles"},
    {of_cells, "--decimal", flag, &Options::decimal,
     "take the numbers of the files exactly as they are written"},
    {of_plans, "--row-multiplicity", "LIST", &Options::row_multiplicity,
     "how often each row counts, with commas between: 2,0,1 is the first row twice, the second not"},
    {of_plans & ~hafnian, "--col-multiplicity", "LIST", &Options::col_multiplicity,
     "how often each column counts"}, // of a hafnian its lines are its rows
    {unmatched, "--row-unmatched", "LIST", &Options::row_unmatched,
     "weights of leaving rows unmatched: one for each, with commas between, or one for all; then the sum "
     "is over all matchings"},
    {unmatched & ~hafnian, "--col-unmatched", "LIST", &Options::col_unmatched,
     "weights of leaving columns unmatched"},
    {(of_plans | of_samples) & ~hafnian, "--function", "NAME", &Options::function,
     "what it is of: permanent; of a symmetric matrix hafnian, or loop_hafnian: of the graph "
     "whose lines are matched to each other"},
    {hafnian, "--loops", flag, &Options::loops,
     "of the loop hafnian: a line may stay single, at the price of its entry on the diagonal, or of "
     "its weight in --row-unmatched"},
    {polynomial, "--linear", "FILE", &Options::linear,
     "the file of the matrix that x stands with; of the unit matrix if not given"},
    {of_plans, "--seed", "N", &Options::seed,
     "of the search for a good order, and of the samples of an estimate"},
    {of_samples, "--seed", "N", &Options::seed, "the same samples follow from the same seed; 0 if not given"},
    {of_plans, "--without", "NAMES", &Options::without,
     "reductions to leave out, with commas between them: matching, dm, d1, d2, fm, merge, "
     "scaling, periodic, structure; all"},
    {of_plans, "--decompose", "RULE", &Options::decompose,
     "auto, or paper: expand rows and columns of at most 4 entries down to n = 30, as SUperman does"},
    {of_plans, "--chunks", "NAME", &Options::chunks,
     "of subsets for each thread of a GPU: ceg, a power of two, so that the threads of a warp "
     "change the same column; or equal, to see what that is worth"},
    {of_files | combine, "--threads", "N", &Options::threads, "threads, one for each core if not given"},
    {of_files | combine, "--memory", "BYTES", &Options::memory_bytes,
     "memory of the whole call on the CPU, such as 512M, 20G or 1.5GiB; three quarters of the "
     "machine's if not given"},
    {of_files | combine, "--time-limit", "TIME", &Options::time_limit_seconds,
     "seconds, or such as 10m, 2h, 3d; none or inf for no limit; if not given, compute refuses "
     "what is predicted to take more than a day"},
    {of_files | combine, "-v,--verbose", flag, &Options::verbose, "log decisions to stderr; twice: details"},
    {of_files | combine | cache, "--cache", "DIR", &Options::cache,
     "folder of compiled kernels and found orders; if not given, $PERM_CACHE_DIR, "
     "$XDG_CACHE_HOME/libperm or "
     "~/.cache/libperm; '' for none"},
    {compute | shard, "--plan", "PLAN", &Options::plan, "take the plan of this file, which perm plan wrote"},
    {explain | source | plan, "--machine", "FILE", &Options::machine,
     "plan for the machine of this file, which perm info --machine wrote there"},
    {info, "--machine", flag, &Options::machine_here,
     "this machine alone, as the option --machine of explain, source and plan reads it"},
    {info, "--options", flag, &Options::option_table,
     "what each option may be, and which count for which call of the library, as the subcommand makes it"},
    {shard, "--of", "N", &Options::of, "in how many the work is divided"},
    {shard, "--index", "K", &Options::index, "which of them to do, from 0 to N - 1"},
    {shard, "--estimate", flag, &Options::estimate,
     "the samples of an estimate (perm estimate) rather than a computation"},
    {shard, "--matchings", flag, &Options::matchings,
     "numbers of matchings (perm matchings) rather than a computation"},
    {compute, "--or-estimate", flag, &Options::or_estimate,
     "where the computation is refused or takes longer than --exact-limit: an estimate (perm estimate)"},
    {compute, "--exact-limit", "TIME", &Options::exact_limit_seconds,
     "what the computation may take with --or-estimate: 1m if not given, but half of --time-limit "
     "at most; the rest of --time-limit is the estimate's"},
    {of_estimates, "--epsilon", "SHARE", &Options::epsilon,
     "relative error of an estimate, 0.01 if not given; of matrices with negative or complex "
     "entries a share of the estimate's scale"},
    {of_estimates, "--delta", "SHARE", &Options::delta,
     "probability that its error is larger, 0.05 if not given"},
    {of_estimates, "--method", "NAME", &Options::method,
     "of an estimate: auto; nesting or rejection, of nonnegative matrices; glynn"},
    {of_estimates, "--samples", "N", &Options::samples,
     "at most so many, as many as the guarantee takes if not given"},
    {kept, "--checkpoint", "FILE", &Options::checkpoint,
     "keep what is done in this file, and go on from it if it is there"},
    {kept | shard, "--checkpoint-every", "TIME", &Options::checkpoint_seconds,
     "write what is done no more often than this, 1m if not given"},
    {explain, "--plot", "FILE.svg|.png|.pdf", &Options::plot,
     "draw the patterns, the frontier and the engines' times; needs gnuplot"},
    {explain, "--gpus", "N", &Options::gpus,
     "predict for so many GPUs, such as a cluster has; those of --device if not given"},
    {source, "--arch", "TARGET", &Options::arch,
     "sm_90, compute_90, ...; if not given, that of the first GPU, or the newest that NVRTC knows"},
    {plan, "-o,--output", "OUT", &Options::output, "the file for it"},
    {shard, "-o,--output", "OUT", &Options::output,
     "the file of the part; what is done in it is not done again"},
    {~(source | plan | shard | explain | status | info | cache), "-q,--quiet", flag, &Options::quiet,
     "print the answer alone; no progress, no log but errors; a missed tolerance is still reported"},
    {shard, "-q,--quiet", flag, &Options::quiet, "print nothing; no progress, no log but errors"},
    {~(source | plan | shard), "--json", flag, &Options::json, "one JSON object on the standard output"},
};

// Of those that a subcommand has.
constexpr const char *required[] = {"FILE", "PART", "CHECKPOINT", "--output", "--of", "--index"};
constexpr std::pair<const char *, const char *> needing[] = {
    {"--epsilon", "--or-estimate"},     {"--delta", "--or-estimate"},
    {"--method", "--or-estimate"},      {"--samples", "--or-estimate"},
    {"--exact-limit", "--or-estimate"}, {"--epsilon", "--estimate"},
    {"--delta", "--estimate"},          {"--method", "--estimate"},
    {"--samples", "--estimate"},        {"--checkpoint-every", "--checkpoint"}};
constexpr std::pair<const char *, const char *> excluding[] = {{"--row-unmatched", "--plan"},
                                                               {"--col-unmatched", "--plan"},
                                                               {"--estimate", "--plan"},
                                                               {"--matchings", "--plan"},
                                                               {"--matchings", "--estimate"}};

} // namespace
} // namespace subcommand

namespace {

const std::string &word_of(const Row &row, const std::string &text) {
    const std::string words = row.words;
    if (row.name == std::string_view("--checkpoint") && text.empty())
        throw std::invalid_argument("a file's name is expected");
    if (!words.empty() && (", " + words + ", ").find(", " + text + ", ") == words.npos)
        throw std::invalid_argument("'" + text + "' is none of " + words);
    return text;
}

void read(const Row &row, const std::string &text, double &number) {
    const std::string_view type = row.type;
    number = type == "TIME" ? parse_seconds(text) : type == "SHARE" ? parse_share(text) : parse_number(text);
}
void read(const Row &row, const std::string &text, std::int64_t &number) {
    number = row.type == std::string_view("BYTES") ? parse_bytes(text) : parse_whole<std::int64_t>(text);
}
void read(const Row &, const std::string &text, std::int32_t &number) {
    number = parse_whole<std::int32_t>(text);
}
void read(const Row &, const std::string &text, std::uint64_t &number) {
    number = parse_whole<std::uint64_t>(text);
}
void read(const Row &, const std::string &text, std::vector<std::int64_t> &numbers) {
    numbers = parse_multiplicities(text);
}
void read(const Row &row, const std::string &text, std::string &word) { word = word_of(row, text); }
void read(const Row &row, const std::string &text, std::optional<std::string> &what) {
    what = row.type == std::string_view("FILE") ? read_text(text) : text;
}
template <class Number> void read(const Row &row, const std::string &text, std::optional<Number> &number) {
    read(row, text, number.emplace());
}

template <class Target> void add(CLI::App &command, const Row &row, Target &target) {
    if constexpr (std::is_same_v<Target, bool>) {
        command.add_flag(row.name, target, row.description);
        return;
    } else if constexpr (std::is_same_v<Target, std::vector<std::string>>) {
        CLI::Option *option = command.add_option(row.name, target, row.description);
        if (row.type) option->delimiter(',')->type_name(row.type);
        return;
    } else {
        if constexpr (std::is_same_v<Target, int>)
            if (!row.type) { // how often it is given
                command.add_flag(row.name, target, row.description);
                return;
            }
        CLI::Option *option = command.add_option_function<std::string>(
            row.name,
            [&target, &row](const std::string &text) {
                try {
                    read(row, text, target);
                } catch (const std::invalid_argument &error) {
                    throw CLI::ValidationError(row.name, error.what());
                }
            },
            row.description);
        if (row.type) option->type_name(row.type);
    }
}

} // namespace

void add_options(CLI::App &command, unsigned subcommand, Options &options) {
    using namespace subcommand;
    for (const Row &row : rows)
        if (row.subcommands & subcommand)
            std::visit([&](auto member) { add(command, row, options.*member); }, row.member);
    const auto find = [&command](const char *name) { return command.get_option_no_throw(name); };
    for (const char *name : required)
        if (CLI::Option *option = find(name)) option->required();
    for (const auto &[name, other] : needing)
        if (find(name) && find(other)) find(name)->needs(find(other));
    for (const auto &[name, other] : excluding)
        if (find(name) && find(other)) find(name)->excludes(find(other));
}

std::string file_name(const Options &options) {
    return options.file == "-" ? "stdin" : std::filesystem::path(options.file).filename().string();
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

namespace {

using libperm::Json;

std::string option_of(const std::string &field) {
    const auto *renamed = std::ranges::find(renamed_fields, field, &RenamedField::field);
    return renamed == std::end(renamed_fields) ? "--" + field : std::string(renamed->option);
}

// What an option may be, in words.
std::string range_of(const Json &facts) {
    const std::string &type = facts.text("type"), &unit = facts.text("unit"), &values = facts.text("values");
    if (!values.empty()) return (type == "words" ? "of " : "") + values;
    if (!unit.empty()) return unit;
    const bool is_whole = type.find("int") != type.npos;
    const std::string most =
        facts.at("most").is_null() ? "" : fmt::format(", at most {:g}", facts.at("most").number());
    if (is_whole) return "a whole number" + most;
    return "a " + (type == "double" ? "number" : type);
}

bool has(const Json &names, const std::string &name) {
    return std::ranges::any_of(names.array(), [&](const Json &one) { return one.text() == name; });
}

std::string joined(const Json &names) {
    std::string text;
    for (const Json &name : names.array()) text += (text.empty() ? "" : ", ") + name.text();
    return text;
}

} // namespace

OptionTable::OptionTable() : table_(Json::read(info(PERM_FORMAT_OPTIONS))) {}

std::vector<std::string> OptionTable::options() const {
    std::vector<std::string> names;
    for (const Json &field : table_.array("options")) names.push_back(option_of(field.text()));
    return names;
}

const Json *OptionTable::rule(const std::string &call, const std::string &option) const {
    for (const Json &rule : table_.array("rules")) {
        const Json::Array &fields = rule.array("options");
        const bool is_named =
            std::ranges::any_of(fields, [&](const Json &field) { return option_of(field.text()) == option; });
        if (is_named && has(rule.at("calls"), call)) return &rule;
    }
    return nullptr;
}

std::optional<std::string> OptionTable::refusal(const std::vector<std::string> &calls,
                                                const std::string &option) const {
    std::optional<std::string> why;
    for (const std::string &call : calls) {
        const Json *of = rule(call, option);
        if (!of || !of->text("values").empty()) return {};
        if (!why) why = of->text("why");
    }
    return why;
}

const std::string &OptionTable::why(const std::string &call, const std::string &option) const {
    return rule(call, option)->text("why");
}

std::string OptionTable::text() const {
    std::string text = "What each option may be, and what it is where it is not given:\n\n";
    for (const auto &[field, facts] : std::get<Json::Object>(table_.at("facts").value()))
        text += fmt::format("  {:<18}  {}; {}\n", field, range_of(facts), facts.text("otherwise"));
    text += "\nEvery option counts for every call, but for these:\n";
    for (const Json &rule : table_.array("rules")) {
        const std::string &values = rule.text("values");
        text += fmt::format("\n{}\n  {}: {}{}\n  {}\n", joined(rule.at("calls")), joined(rule.at("options")),
                            rule.integer("status") == PERM_OK ? "nothing to do" : "refused",
                            values.empty() ? "" : ", but " + values, rule.text("why"));
    }
    return text;
}

} // namespace perm
