#include "job.hpp"

#include "matrix_market.hpp"

namespace perm {
namespace {

const char *text_or_null(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }

} // namespace

Job::Job(const Options &options)
    : matrix_(without_zeros(read_matrix_market_file(options.file))),
      seconds_read_(watch_.seconds()),
      progress_(!options.quiet),
      plan_(make_plan(options)) {
    seconds_plan_ = watch_.seconds() - seconds_read_;
}

Plan Job::make_plan(const Options &options) {
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
    return Plan(matrix_, opts);
}

Result Job::execute() const { return plan_.execute(matrix_.pattern ? nullptr : matrix_.values.data()); }

} // namespace perm
