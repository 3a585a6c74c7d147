// The C API, but for what lies in files of its own (gradients.cpp, periodic.cpp).
#include "capi/boundary.hpp"
#include "capi/one_call.hpp"
#include "capi/partials.hpp"
#include "capi/plan_execute.hpp"
#include "capi/plan_handle.hpp"
#include "capi/results.hpp"
#include "capi/stopwatch.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/checkpoint.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"
#include "lib/plan/plan.hpp"
#include "lib/report/report.hpp"

#include <perm.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace {

using capi::clear;
using capi::guarded;
using capi::into;
using capi::is_json;
using capi::pattern_for;
using capi::require_executable;
using capi::require_kept;
using capi::require_result;
using capi::Stopwatch;
using capi::values_for;
using capi::write;
using capi::write_bytes;
using capi::write_text;
using libperm::Error;

// Values that came with the pattern of a plan. What cannot be computed with is no help, but no fault either.
libperm::Values hints(const libperm::InputPattern &input, const perm_csr &a, libperm::RunControl &control) {
    if (!a.values || input.value_type == PERM_VALUE_PATTERN) return {};
    try {
        return values_for(control, input, libperm::GivenValues(input, a).data());
    } catch (const Error &error) {
        if (error.status() != PERM_BAD_MATRIX || input.pattern.one_sided) throw;
        return {};
    }
}

} // namespace

extern "C" {

const char *perm_status_text(perm_status status) {
    switch (status) {
    case PERM_OK:
        return "ok";
    case PERM_BAD_ARGUMENT:
        return "bad argument";
    case PERM_BAD_MATRIX:
        return "bad matrix";
    case PERM_BAD_OPTION:
        return "bad option";
    case PERM_REFUSED_MEMORY:
        return "refused: too much memory";
    case PERM_REFUSED_TIME:
        return "refused: too much time";
    case PERM_UNSUPPORTED:
        return "unsupported";
    case PERM_CANCELLED:
        return "cancelled";
    case PERM_OUT_OF_MEMORY:
        return "out of memory";
    case PERM_GPU_FAILED:
        return "GPU failed";
    case PERM_INTERNAL:
        return "internal error";
    }
    return "unknown status";
}

const char *perm_last_error(void) { return capi::last_error(); }

const char *perm_version(void) { return PERM_VERSION_STRING; }

perm_status perm_result_clear(perm_result *result) {
    if (!result) return PERM_OK;
    return guarded([&] {
        require_result(result);
        clear(*result);
    });
}

perm_status perm_compute(const perm_csr *a, const perm_opts *opts, perm_result *result) {
    bool is_answered = false;
    const perm_status status = guarded([&] { is_answered = capi::compute_by_sum(a, opts, result); });
    if (is_answered || status != PERM_OK) return status;
    return into(result, [&](perm_result &r) { capi::compute_otherwise(a, opts, r); });
}

perm_status perm_hafnian(const perm_csr *a, const perm_opts *opts, perm_result *result) {
    bool is_answered = false;
    const perm_status status = guarded(
        [&] { is_answered = capi::compute_by_sum(a, opts, result, libperm::MatrixFunction::hafnian); });
    if (is_answered || status != PERM_OK) return status;
    return into(result, [&](perm_result &r) {
        libperm::Options options = libperm::read_options(opts, libperm::Call::compute);
        if (options.function == libperm::MatrixFunction::permanent) {
            if (libperm::names_function(opts))
                throw Error(PERM_BAD_OPTION,
                            "function permanent: perm_hafnian has hafnian and loop_hafnian, and "
                            "perm_compute permanents");
            options.function = libperm::MatrixFunction::hafnian;
        }
        libperm::RunControl control(options);
        capi::compute_otherwise(a, options, control, r);
    });
}

perm_status perm_compute_with_plan(const perm_csr *a, const perm_opts *opts, perm_result *result,
                                   perm_plan **plan) {
    if (plan) *plan = nullptr;
    return into(result, [&](perm_result &r) {
        if (!plan) throw Error(PERM_BAD_ARGUMENT, "the place for the plan is a null pointer");
        *plan = (capi::compute_by_sum(a, opts, &r) ? capi::plan_beside_sum(a, opts)
                                                   : capi::compute_by_plan(a, opts, r))
                    .release();
    });
}

perm_status perm_plan_create(const perm_csr *a, const perm_opts *opts, perm_plan **plan) {
    if (plan) *plan = nullptr;
    return guarded([&] {
        if (!plan) throw Error(PERM_BAD_ARGUMENT, "the place for the plan is a null pointer");
        Stopwatch watch;
        const libperm::Options options = libperm::read_options(opts, libperm::Call::plan_create);
        auto made = std::make_unique<perm_plan>();
        libperm::RunControl control(options);
        libperm::InputPattern input = pattern_for(control, a, options.function);
        const libperm::Values values = hints(input, *a, control);
        made->seconds_check = watch.lap();
        libperm::with_threads(options.threads, [&] {
            made->plan = libperm::make_kept_plan(std::move(input), options, values, control);
            libperm::TapePlan::order(made->plan, control);
            made->glynn = libperm::GlynnPlan::of(made->plan);
            made->direct = libperm::TapePlan::of(made->plan, control);
            made->plan.once = capi::way_beside_plan(a, options, made->plan, control);
        });
        made->seconds_plan = watch.lap();
        *plan = made.release();
    });
}

perm_status perm_plan_execute(const perm_plan *plan, const void *values, perm_result *result) {
    return into(result, [&](perm_result &r) {
        require_executable(plan, libperm::Call::plan_execute);
        capi::execute(*plan, values, r);
    });
}

perm_status perm_plan_explain(const perm_plan *plan, perm_format format, char *buffer, size_t capacity,
                              size_t *needed) {
    return guarded([&] {
        if (!plan) throw Error(PERM_BAD_ARGUMENT, "the plan is a null pointer");
        write_text(capi::explain(*plan, format), buffer, capacity, needed);
    });
}

perm_status perm_plan_source(const perm_plan *plan, const char *arch, char *buffer, size_t capacity,
                             size_t *needed) {
    return guarded([&] {
        if (!plan) throw Error(PERM_BAD_ARGUMENT, "the plan is a null pointer");
        write_text(libperm::kernel_source(plan->plan, arch), buffer, capacity, needed);
    });
}

perm_status perm_plan_save(const perm_plan *plan, void *buffer, size_t capacity, size_t *needed) {
    return guarded([&] {
        require_kept(plan);
        const std::string bytes = capi::TaskSource(plan->plan).bytes();
        write_bytes(bytes.data(), bytes.size(), buffer, capacity, needed);
    });
}

perm_status perm_plan_load(const void *bytes, size_t size, const perm_opts *opts, perm_plan **plan) {
    if (plan) *plan = nullptr;
    return guarded([&] {
        if (!plan) throw Error(PERM_BAD_ARGUMENT, "the place for the plan is a null pointer");
        if (!bytes) throw Error(PERM_BAD_ARGUMENT, "the saved plan is a null pointer");
        const capi::TaskSource source(std::string_view(static_cast<const char *>(bytes), size));
        if (source.kind != libperm::TaskIdentity::plan)
            throw Error(PERM_BAD_ARGUMENT, "the saved task is no plan: load it with perm_task_load");
        *plan = capi::load_plan(source, opts).release();
    });
}

perm_status perm_plan_check_matrix(const perm_plan *plan, const perm_csr *a) {
    return guarded([&] {
        if (!plan) throw Error(PERM_BAD_ARGUMENT, "the plan is a null pointer");
        const char *what =
            libperm::difference(plan->plan.input, libperm::read_pattern(a, plan->plan.options.function));
        if (what)
            throw Error(PERM_BAD_ARGUMENT,
                        libperm::formatted("the plan is of another matrix: the {} differ", what));
    });
}

perm_status perm_partial_clear(perm_partial *partial) {
    if (!partial) return PERM_OK;
    return guarded([&] { capi::clear(*partial); });
}

perm_status perm_plan_destroy(perm_plan *plan) {
    delete plan;
    return PERM_OK;
}

perm_status perm_info(perm_format format, char *buffer, size_t capacity, size_t *needed) {
    return guarded([&] {
        write_text(format == PERM_FORMAT_MACHINE   ? libperm::machine_here()
                   : format == PERM_FORMAT_OPTIONS ? libperm::option_table_json()
                   : is_json(format)               ? libperm::info_json()
                                                   : libperm::info_text(),
                   buffer, capacity, needed);
    });
}

perm_status perm_cache_describe(const char *cache_dir, perm_format format, char *buffer, size_t capacity,
                                size_t *needed) {
    return guarded([&] {
        write_text(is_json(format) ? libperm::cache_json(cache_dir) : libperm::cache_text(cache_dir), buffer,
                   capacity, needed);
    });
}

perm_status perm_cache_clear(const char *cache_dir, int64_t *removed) {
    if (removed) *removed = 0;
    return guarded([&] {
        const std::int64_t count = libperm::clear_cache(cache_dir);
        if (removed) *removed = count;
    });
}

perm_status perm_checkpoint_describe(const char *file, perm_format format, char *buffer, size_t capacity,
                                     size_t *needed) {
    return guarded([&] {
        if (!file) throw Error(PERM_BAD_ARGUMENT, "the checkpoint's name is a null pointer");
        const bool as_json = is_json(format);
        write_text(as_json ? libperm::checkpoint_json(file) : libperm::checkpoint_text(file), buffer,
                   capacity, needed);
    });
}

perm_status perm_set_log_level(int level) {
    return guarded([&] {
        if (level < 0 || level > 4) throw Error(PERM_BAD_ARGUMENT, "the log level must lie in 0..4");
        libperm::set_log_level(level);
    });
}

} // extern "C"
