#include "answer.hpp"
#include "commands.hpp"
#include "job.hpp"
#include "option_table.hpp"
#include "output.hpp"

#include "lib/base/durable_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace perm {
namespace {

struct Computed {
    Result result;
    std::string plan; // its explanation, for an answer in JSON
    Seconds seconds{};
};

Computed by_plan_file(const Options &options, const Input &input, double read) {
    const Stopwatch watch;
    const Cancellable cancellable(notice_of(options));
    Progress progress(!options.quiet);
    const Plan plan = make_plan(options, input, library_options(options, progress));
    const double planned = watch.seconds();
    Computed computed{plan.execute(input.csr().values), {}, {}};
    const Result &r = computed.result;
    computed.seconds = {read + watch.seconds(), read, r->seconds_check, planned, r->seconds_run};
    if (options.json) computed.plan = plan.explain(PERM_FORMAT_JSON);
    return computed;
}

// A plan of its own would be one for many executions.
Computed at_once(const Options &options, const Input &input, double read) {
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

// work(); a stop that leaves a checkpoint says how to go on.
template <class Work> auto to_go_on(const Options &options, const Work &work) {
    try {
        return work();
    } catch (const Error &error) {
        const bool stopped = error.status() == PERM_CANCELLED || error.status() == PERM_REFUSED_TIME;
        if (!stopped || !libperm::exists(options.checkpoint)) throw;
        throw Error(error.status(), error.what() + how_to_go_on(options));
    }
}

void compute_and_write(const Options &options, const Input &input, double read) {
    Computed computed = to_go_on(options, [&] {
        return options.plan.empty() ? at_once(options, input, read) : by_plan_file(options, input, read);
    });
    write_answer(options, file_name(options), *computed.result.raw(), computed.seconds, computed.plan);
}

// Refused before the computation is: what it may come to is of another kind.
void require_estimable(const std::string &precision, const std::string &function) {
    if (!function.empty() && function != "permanent")
        throw Error(PERM_BAD_OPTION, "--or-estimate with --function " + function + ": " +
                                         OptionTable().why("perm compute --or-estimate", "--function"));
    const bool is_modular = precision.starts_with("mod:");
    if (precision != "exact" && !is_modular) return;
    throw Error(PERM_BAD_OPTION, "--or-estimate with --precision " + precision + ": " +
                                     OptionTable().why("perm compute --or-estimate", "--precision"));
}

bool is_refusal(perm_status status) { return status == PERM_REFUSED_TIME || status == PERM_REFUSED_MEMORY; }

// What the exact way may take before an estimate takes its place.
double exact_seconds(const Options &options) {
    constexpr double minute = 60;
    const double whole =
        options.time_limit_seconds > 0 ? options.time_limit_seconds : std::numeric_limits<double>::infinity();
    if (!options.exact_limit_seconds) return std::min(minute, whole / 2);
    const double share = *options.exact_limit_seconds;
    if (share < whole || std::isinf(share)) return share;
    throw Error(PERM_BAD_OPTION, "--exact-limit is not below --time-limit, whose rest is the estimate's: "
                                 "lower the one or raise the other");
}

// The first line of a refusal; its limit was that of the exact way.
std::string reason_of(const Error &refusal) {
    std::string text = refusal.what();
    text.resize(std::min(text.find('\n'), text.size()));
    constexpr std::string_view limit = "time_limit_seconds";
    if (const auto at = text.find(limit); at != text.npos) text.replace(at, limit.size(), "--exact-limit");
    return in_command_terms(text);
}

void estimate_instead(const Options &options, const Input &input, const Stopwatch &watch,
                      const std::string &reason) {
    Options of_estimate = options; // the others are of the computation
    of_estimate.engine = of_estimate.precision = of_estimate.device = of_estimate.checkpoint = "";
    of_estimate.decompose = of_estimate.chunks = "";
    of_estimate.tolerance = 0;
    if (options.time_limit_seconds > 0) of_estimate.time_limit_seconds -= watch.seconds();
    if (of_estimate.time_limit_seconds < 0)
        throw Error(PERM_REFUSED_TIME, "nothing of --time-limit is left for an estimate: " + reason);
    if (!options.quiet) write_message("an estimate takes the place of the computation: " + reason);
    const perm_opts opts = library_options(of_estimate);
    const perm_estimated found = make_estimate(options, input.csr(), opts);
    write_estimate(options, found, input.csr(), watch.seconds(), reason);
}

} // namespace

void run_compute(const Options &options) {
    if (!options.checkpoint.empty()) require_folder_of(options.checkpoint);
    if (options.or_estimate) require_estimable(options.precision, options.function);
    Options exact = options;
    if (options.or_estimate) exact.time_limit_seconds = exact_seconds(options);
    const Stopwatch watch;
    const Input input(options);
    try {
        compute_and_write(exact, input, watch.seconds());
    } catch (const Error &refusal) {
        if (!options.or_estimate || !is_refusal(refusal.status())) throw;
        estimate_instead(options, input, watch, reason_of(refusal));
    }
}

void run_estimate(const Options &options) {
    if (!options.checkpoint.empty()) require_folder_of(options.checkpoint);
    const Stopwatch watch;
    const Input input(options);
    const perm_estimated found =
        to_go_on(options, [&] { return make_estimate(options, input.csr(), library_options(options)); });
    write_estimate(options, found, input.csr(), watch.seconds());
}

void run_hafnian(const Options &given) {
    Options options = given;
    options.function = options.loops || !options.row_unmatched.empty() ? "loop_hafnian" : "hafnian";
    run_compute(options);
}

} // namespace perm
