#include "answer.hpp"
#include "commands.hpp"
#include "estimate_answer.hpp"
#include "job.hpp"
#include "output.hpp"

#include "lib/base/durable_file.hpp"

namespace perm {
namespace {

struct Computed {
    Result result;
    std::string plan; // its explanation, for an answer in JSON
    Seconds seconds{};
};

Computed by_plan_file(const Options &options) {
    const Stopwatch watch;
    const Job job(options);
    Computed computed{job.execute(), {}, {}};
    const Result &r = computed.result;
    computed.seconds = {watch.seconds(), job.seconds_read(), r->seconds_check, job.seconds_plan(),
                        r->seconds_run};
    if (options.json) computed.plan = job.explain(PERM_FORMAT_JSON);
    return computed;
}

// A plan of its own would be one for many executions.
Computed at_once(const Options &options) {
    const Stopwatch watch;
    const Input input(options);
    const double read = watch.seconds();
    const Cancellable cancellable(notice_of(options));
    Progress progress(!options.quiet);
    const perm_opts opts = library_options(options, progress);
    Computed computed;
    Result &r = computed.result;
    if (options.json)
        computed.plan = Plan::compute(input.csr(), opts, r).explain(PERM_FORMAT_JSON);
    else
        r = compute(input.csr(), opts);
    computed.seconds = {read + r->seconds_total, read, r->seconds_check, r->seconds_plan, r->seconds_run};
    return computed;
}

// A stop that leaves a checkpoint says how to go on.
Computed computed_by(const Options &options) {
    try {
        return options.plan.empty() ? at_once(options) : by_plan_file(options);
    } catch (const Error &error) {
        const bool stopped = error.status() == PERM_CANCELLED || error.status() == PERM_REFUSED_TIME;
        if (!stopped || !libperm::exists(options.checkpoint)) throw;
        throw Error(error.status(), error.what() + how_to_go_on(options));
    }
}

} // namespace

namespace {

void compute_and_write(const Options &options) {
    Computed computed = computed_by(options);
    write_answer(options, file_name(options), *computed.result.raw(), computed.seconds, computed.plan);
}

bool is_refusal(perm_status status) { return status == PERM_REFUSED_TIME || status == PERM_REFUSED_MEMORY; }

void estimate_instead(const Options &options, const Error &refusal) {
    const Stopwatch watch;
    const Input input(options);
    perm_opts opts = library_options(options);
    opts.engine = opts.precision = opts.device = opts.checkpoint = nullptr; // of the computation
    const perm_estimated found = make_estimate(options, input.csr(), opts);
    const std::string text = in_command_terms(refusal.what());
    write_estimate(options, found, input.csr(), watch.seconds(), text.substr(0, text.find('\n')));
}

} // namespace

void run_compute(const Options &options) {
    if (!options.checkpoint.empty()) require_folder_of(options.checkpoint);
    try {
        compute_and_write(options);
    } catch (const Error &refusal) {
        if (!options.or_estimate || !is_refusal(refusal.status())) throw;
        estimate_instead(options, refusal);
    }
}

} // namespace perm
