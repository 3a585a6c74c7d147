#include "capi/task_source.hpp"

#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/run/call.hpp"
#include "lib/run/task_parts.hpp"
#include "lib/saved/bytes.hpp"

#include <cstddef>

namespace capi {
namespace {

constexpr libperm::Seal seal{"PERMPLAN",
                             9,
                             "the saved task",
                             "perm_task_save, perm_plan_save or perm plan",
                             "finish with that version, or make it anew with this one and save it again",
                             "PERMTASK PERMPLNF"};

std::string text_of(const char *text) { return text ? text : ""; }
const char *text_or_null(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }

} // namespace

TaskSource::TaskSource(std::string_view bytes) : TaskSource(libperm::content_of<TaskSource>(seal, bytes)) {}

TaskSource::TaskSource(const libperm::Plan &of) : kind(libperm::TaskIdentity::plan) {
    const libperm::CurrentCall current(of.options);
    plan = libperm::bytes_of(libperm::plan_in_blocks(of));
}

std::string TaskSource::bytes() const { return libperm::sealed(seal, libperm::written(*this)); }

void TaskSource::take(const perm_opts *opts) {
    if (!opts) return;
    const perm_opts known = libperm::read_known(*opts, offsetof(perm_opts, without), "perm_opts");
    engine = text_of(known.engine);
    precision = text_of(known.precision);
    without = text_of(known.without);
    decompose = text_of(known.decompose);
    chunks = text_of(known.chunks);
    function = text_of(known.function);
    tolerance = known.tolerance;
    seed = known.seed;
}

void TaskSource::take(const perm_estimate_opts *wanted) {
    if (!wanted) return;
    epsilon = wanted->epsilon;
    delta = wanted->delta;
    estimate_seed = wanted->seed;
    samples = wanted->samples;
    method = text_of(wanted->method);
}

perm_opts TaskSource::options(const perm_opts *caller) const {
    perm_opts opts = PERM_OPTS_INIT;
    if (caller) opts = libperm::read_known(*caller, offsetof(perm_opts, without), "perm_opts");
    opts.engine = text_or_null(engine);
    opts.precision = text_or_null(precision);
    opts.without = text_or_null(without);
    opts.decompose = text_or_null(decompose);
    opts.chunks = text_or_null(chunks);
    opts.function = text_or_null(function);
    opts.tolerance = tolerance;
    opts.seed = seed;
    return opts;
}

perm_estimate_opts TaskSource::wanted() const {
    perm_estimate_opts wanted = PERM_ESTIMATE_OPTS_INIT;
    wanted.epsilon = epsilon;
    wanted.delta = delta;
    wanted.seed = estimate_seed;
    wanted.samples = samples;
    wanted.method = text_or_null(method);
    return wanted;
}

} // namespace capi
