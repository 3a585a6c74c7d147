#include "job.hpp"

#include "part_file.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <charconv>
#include <utility>

namespace perm {
namespace {

template <class Number> Number parsed(const std::string &text, const char *option, const char *kind) {
    Number number{};
    const char *const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    if (end != last || error != std::errc{})
        throw Error(PERM_BAD_OPTION, fmt::format("{}: '{}' is not {}", option, text, kind));
    return number;
}

const char *text_or_null(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }

const std::int64_t *multiplicity_or_null(const std::vector<std::int64_t> &numbers, std::int64_t lines,
                                         const char *option, const char *what) {
    if (numbers.empty()) return nullptr;
    if (static_cast<std::int64_t>(numbers.size()) != lines)
        throw Error(PERM_BAD_OPTION, fmt::format("{} has {} numbers, expected one for each of the {} {}",
                                                 option, numbers.size(), lines, what));
    return numbers.data();
}

} // namespace

LineWeights::LineWeights(const std::vector<std::string> &texts, std::int64_t lines, std::int32_t value_type,
                         const char *option) {
    if (texts.empty()) return;
    const auto given = static_cast<std::int64_t>(texts.size());
    if (given != 1 && given != lines)
        throw Error(PERM_BAD_OPTION,
                    fmt::format("{} has {} numbers, expected one, or one for each of the {} lines", option,
                                given, lines));
    for (std::int64_t i = 0; i < lines; ++i)
        texts_.push_back(texts[given == 1 ? 0 : static_cast<std::size_t>(i)]);
    texts_.emplace_back("1"); // so that there is an address
    for (const std::string &text : texts_) {
        pointers_.push_back(text.c_str());
        if (value_type == PERM_VALUE_I64 || value_type == PERM_VALUE_PATTERN)
            integers_.push_back(parsed<std::int64_t>(
                text, option, "a whole number, as those of the file are: write them with a point there"));
        if (value_type == PERM_VALUE_F64 || value_type == PERM_VALUE_C128)
            doubles_.push_back(parsed<double>(text, option, "a number"));
        if (value_type == PERM_VALUE_C128) doubles_.push_back(0);
        if (value_type == PERM_VALUE_PATTERN && integers_.back() != 1)
            throw Error(PERM_BAD_OPTION, fmt::format("{}: the entries of a pattern are 1, and so are weights "
                                                     "beside them, not {}",
                                                     option, text));
    }
    data_ = value_type == PERM_VALUE_TEXT ? static_cast<const void *>(pointers_.data())
            : !doubles_.empty()           ? static_cast<const void *>(doubles_.data())
                                          : static_cast<const void *>(integers_.data());
}

double memory_limit(const Options &options) {
    if (options.memory_bytes > 0) return static_cast<double>(options.memory_bytes);
    const std::int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return 0.75 * static_cast<double>(pages) * static_cast<double>(page);
}

Options of_matchings(Options options) {
    if (options.function.empty() && is_graph_file(options.file, options.format)) options.function = "hafnian";
    return options;
}

FileMatrix read_file(const Options &options, const std::string &file) {
    const Reading reading = options.decimal ? Reading::as_written : Reading::nearest_doubles;
    ReadOptions how(reading, static_cast<std::int64_t>(memory_limit(options)));
    how.format = options.format;
    if (!options.duplicates.empty())
        how.duplicates = options.duplicates == "sum"    ? Duplicates::sum
                         : options.duplicates == "once" ? Duplicates::once
                                                        : Duplicates::refuse;
    FileMatrix a = read_matrix_file(file, how);
    if (!a.note.empty() && !options.quiet) write_message(a.note);
    return without_zeros(std::move(a));
}

Input::Input(const Options &options) : Input(options, read_file(options, options.file)) {}

Input::Input(const Options &options, FileMatrix matrix)
    : name_(file_name(options)),
      matrix_(std::move(matrix)),
      view_(matrix_),
      csr_(view_.csr()),
      row_weights_(options.row_unmatched, csr_.n_rows, csr_.value_type, "--row-unmatched"),
      col_weights_(options.col_unmatched, csr_.n_cols, csr_.value_type, "--col-unmatched") {
    csr_.row_unmatched = row_weights_.data();
    csr_.col_unmatched = col_weights_.data();
    csr_.row_multiplicity =
        multiplicity_or_null(options.row_multiplicity, csr_.n_rows, "--row-multiplicity", "rows");
    csr_.col_multiplicity =
        multiplicity_or_null(options.col_multiplicity, csr_.n_cols, "--col-multiplicity", "columns");
}

perm_opts library_options(const Options &options) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = text_or_null(options.engine);
    opts.device = text_or_null(options.device);
    opts.precision = text_or_null(options.precision);
    opts.tolerance = options.tolerance;
    opts.threads = options.threads;
    opts.memory_limit_bytes = options.memory_bytes;
    opts.time_limit_seconds = options.time_limit_seconds;
    opts.seed = options.seed;
    opts.without = text_or_null(options.without);
    opts.decompose = text_or_null(options.decompose);
    opts.chunks = text_or_null(options.chunks);
    opts.cache_dir = options.cache ? options.cache->c_str() : nullptr;
    opts.checkpoint = text_or_null(options.checkpoint);
    if (opts.checkpoint) opts.checkpoint_seconds = options.checkpoint_seconds; // else of a part's file
    opts.gpus = options.gpus;
    opts.function = text_or_null(options.function);
    opts.machine = options.machine ? options.machine->c_str() : nullptr;
    opts.cancel = Cancellable::requested;
    return opts;
}

perm_opts library_options(const Options &options, Progress &progress) {
    perm_opts opts = library_options(options);
    opts.progress = Progress::report;
    opts.progress_user = &progress;
    return opts;
}

const char *notice_of(const Options &options) { return options.checkpoint.empty() ? nullptr : finishing; }

Job::Job(const Options &options)
    : input_(options),
      cancellable_(notice_of(options)),
      progress_(!options.quiet),
      plan_(make_plan(options, input_, library_options(options, progress_))) {}

Plan make_plan(const Options &options, const Input &input, const perm_opts &opts) {
    if (options.plan.empty()) return Plan(input.csr(), opts);
    Plan plan = load_plan_file(options.plan, opts);
    of_file(options.plan, [&] { plan.check_matrix(input.csr()); });
    return plan;
}

} // namespace perm
