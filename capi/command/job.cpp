#include "job.hpp"

#include "matrix_market.hpp"

#include <fmt/format.h>

namespace perm {
namespace {

const char *text_or_null(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }

FileMatrix read(const Options &options) {
    const Reading reading = options.decimal ? Reading::as_written : Reading::nearest_doubles;
    return without_zeros(read_matrix_market_file(options.file, reading));
}

const std::int64_t *multiplicity_or_null(const std::vector<std::int64_t> &numbers, std::int64_t lines,
                                         const char *option, const char *what) {
    if (numbers.empty()) return nullptr;
    if (static_cast<std::int64_t>(numbers.size()) != lines)
        throw Error(PERM_BAD_OPTION, fmt::format("{} has {} numbers, expected one for each of the {} {}",
                                                 option, numbers.size(), lines, what));
    return numbers.data();
}

} // namespace

Job::Job(const Options &options)
    : matrix_(read(options)),
      view_(matrix_),
      seconds_read_(watch_.seconds()),
      progress_(!options.quiet),
      plan_(make_plan(options)) {
    seconds_plan_ = watch_.seconds() - seconds_read_;
}

Plan Job::make_plan(const Options &options) {
    perm_csr a = view_.csr();
    a.row_multiplicity =
        multiplicity_or_null(options.row_multiplicity, a.n_rows, "--row-multiplicity", "rows");
    a.col_multiplicity =
        multiplicity_or_null(options.col_multiplicity, a.n_cols, "--col-multiplicity", "columns");
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
    opts.progress = Progress::report;
    opts.progress_user = &progress_;
    opts.cancel = Cancellable::requested;
    return Plan(a, opts);
}

Result Job::execute() const { return plan_.execute(view_.csr().values); }

} // namespace perm
