// The C API, but for what lies in files of its own: results, plans, bounds, samples, and what the library
// tells of itself.

#include "capi/caller.hpp"
#include "capi/compute.hpp"
#include "capi/plan_execute.hpp"
#include "capi/tasks.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/matrix_bounds.hpp"
#include "lib/execute/plan_task.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"
#include "lib/plan/plan.hpp"
#include "lib/report/report.hpp"
#include "lib/samples/boson/boson_task.hpp"
#include "lib/samples/sample_task.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <perm.h>
#include <string>
#include <string_view>
#include <utility>

namespace {

using capi::clear;
using capi::guarded;
using capi::into;
using capi::is_json;
using capi::require_executable;
using capi::require_kept;
using capi::require_result;
using capi::write;
using capi::write_bytes;
using capi::write_text;
using libperm::Error;

std::unique_ptr<perm_plan> compute_otherwise(const perm_csr *a, const perm_opts *opts, perm_result &r,
                                             capi::WithPlan wanted) {
    const libperm::Options options = libperm::read_options(opts, libperm::ApiCall::compute);
    const libperm::CurrentCall current(options);
    return capi::compute_otherwise(a, options, r, wanted);
}

} // namespace

const char *perm_status_text(perm_status status) {
    constexpr struct {
        perm_status status;
        const char *text;
    } texts[] = {{PERM_OK, "ok"},
                 {PERM_BAD_ARGUMENT, "bad argument"},
                 {PERM_BAD_MATRIX, "bad matrix"},
                 {PERM_BAD_OPTION, "bad option"},
                 {PERM_REFUSED_MEMORY, "refused: too much memory"},
                 {PERM_REFUSED_TIME, "refused: too much time"},
                 {PERM_UNSUPPORTED, "unsupported"},
                 {PERM_CANCELLED, "cancelled"},
                 {PERM_OUT_OF_MEMORY, "out of memory"},
                 {PERM_GPU_FAILED, "GPU failed"},
                 {PERM_INTERNAL, "internal error"}};
    for (const auto &known : texts)
        if (known.status == status) return known.text;
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
    return into(result, [&](perm_result &r) { compute_otherwise(a, opts, r, capi::WithPlan::no); });
}

perm_status perm_compute_with_plan(const perm_csr *a, const perm_opts *opts, perm_result *result,
                                   perm_plan **plan) {
    if (plan) *plan = nullptr;
    return into(result, [&](perm_result &r) {
        if (!plan) throw Error(PERM_BAD_ARGUMENT, "the place for the plan is a null pointer");
        *plan = (capi::compute_by_sum(a, opts, &r) ? capi::plan_beside_sum(a, opts)
                                                   : compute_otherwise(a, opts, r, capi::WithPlan::yes))
                    .release();
    });
}

perm_status perm_plan_create(const perm_csr *a, const perm_opts *opts, perm_plan **plan) {
    return capi::made(plan, "plan", [&] { return capi::create_plan(a, opts); });
}

perm_status perm_plan_execute(const perm_plan *plan, const void *values, perm_result *result) {
    return into(result, [&](perm_result &r) {
        require_executable(plan, libperm::ApiCall::plan_execute);
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
    return capi::made(plan, "plan", [&] {
        if (!bytes) throw Error(PERM_BAD_ARGUMENT, "the saved plan is a null pointer");
        const capi::TaskSource source(std::string_view(static_cast<const char *>(bytes), size));
        if (source.kind != libperm::TaskIdentity::plan)
            throw Error(PERM_BAD_ARGUMENT, "the saved task is no plan: load it with perm_task_load");
        return capi::load_plan(source.plan, opts);
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

// perm_bounds (lib/bounds).

namespace {

void require_place(const perm_interval *bounds) {
    if (!bounds) throw libperm::Error(PERM_BAD_ARGUMENT, "the place for the bounds is a null pointer");
    if (bounds->struct_size < sizeof(perm_interval))
        throw libperm::Error(PERM_BAD_ARGUMENT,
                             "perm_interval.struct_size is too small: start from PERM_INTERVAL_INIT");
}

void put(const libperm::MatrixBounds &found, perm_interval &bounds) {
    const libperm::Bounded &b = found.bounded;
    bounds.lower_mantissa = b.interval.lower.mantissa;
    bounds.lower_exp2 = b.interval.lower.exp2;
    bounds.upper_mantissa = b.interval.upper.mantissa;
    bounds.upper_exp2 = b.interval.upper.exp2;
    bounds.lower_method = b.lower_method;
    bounds.upper_method = b.upper_method;
    bounds.exact = b.interval.is_point();
    bounds.of_magnitude = found.of_magnitude;
    bounds.blocks = found.blocks;
    bounds.blocks_exact = found.blocks_exact;
}

} // namespace

perm_status perm_bounds(const perm_csr *a, const perm_opts *opts, perm_interval *bounds) {
    return guarded([&] {
        require_place(bounds);
        *bounds = PERM_INTERVAL_INIT;
        capi::Stopwatch watch;
        const libperm::Options options = libperm::read_options(opts, libperm::ApiCall::bounds);
        const libperm::CurrentCall current(options);
        libperm::InputPattern input = capi::pattern_for(a);
        libperm::Values values = capi::values_for(input, *a);
        libperm::simplify(input, values);
        libperm::with_threads(options.threads,
                              [&] { put(libperm::bounds_of(input, values, options), *bounds); });
        libperm::call().finish();
        bounds->seconds_total = watch.lap();
    });
}

// perm_sample, perm_sampler and perm_sample_photons (lib/samples): at once, and some at a time.

using libperm::TaskIdentity;

namespace {

void require_place(std::int64_t count, const std::int64_t *columns) {
    if (!columns && count > 0) throw Error(PERM_BAD_ARGUMENT, "the place for the samples is a null pointer");
}

// As a task, which goes on from its checkpoint.
void draw_kept(const capi::Given &given, std::int64_t *columns) {
    const perm_task task(given);
    require_place(task.room().columns, columns);
    perm_answer answer = PERM_ANSWER_INIT;
    answer.columns = columns;
    task.run(answer);
}

} // namespace

struct perm_sampler {
  public:
    perm_sampler(const perm_csr *a, libperm::Options options, std::int64_t shots, std::uint64_t seed)
        : options_(std::move(options)), call_(options_) {
        const libperm::PolledScope scope(&call_);
        capi::require_shots(shots);
        const libperm::InputPattern input = capi::pattern_for(a, options_.function);
        const libperm::Values values = capi::values_for(input, *a);
        samples_.emplace(input, values, shots, seed, options_);
    }

    void draw(std::int64_t count, std::int64_t *columns) {
        require_place(count * samples_->rows(), columns);
        const libperm::PolledScope scope(&call_);
        samples_->draw(count, columns);
        if (samples_->left() == 0) call_.finish();
    }

  private:
    const libperm::Options options_;
    libperm::Call call_;
    std::optional<libperm::MatchingSamples> samples_;
};

perm_status perm_sample(const perm_csr *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                        int64_t *columns) {
    return guarded([&] {
        libperm::Options options = libperm::read_options(opts, libperm::ApiCall::sample);
        if (!options.checkpoint.empty())
            return draw_kept(
                {.kind = TaskIdentity::samples, .opts = opts, .matrix = a, .shots = shots, .seed = seed},
                columns);
        perm_sampler(a, std::move(options), shots, seed).draw(shots, columns);
    });
}

perm_status perm_sampler_create(const perm_csr *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                                perm_sampler **sampler) {
    return capi::made(sampler, "sampler", [&] {
        return std::make_unique<perm_sampler>(
            a, libperm::read_options(opts, libperm::ApiCall::sampler_create), shots, seed);
    });
}

perm_status perm_sampler_draw(perm_sampler *sampler, int64_t count, int64_t *columns) {
    return guarded([&] {
        if (!sampler) throw Error(PERM_BAD_ARGUMENT, "the sampler is a null pointer");
        sampler->draw(count, columns);
    });
}

perm_status perm_sampler_destroy(perm_sampler *sampler) {
    return guarded([&] { delete sampler; });
}

perm_status perm_sample_photons(const perm_boson *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                                int64_t *occupations) {
    return guarded([&] {
        const libperm::Options options = libperm::read_options(opts, libperm::ApiCall::sample_photons);
        libperm::checked_photons(a, shots);
        require_place(shots, occupations);
        if (!options.checkpoint.empty())
            return draw_kept(
                {.kind = TaskIdentity::photons, .opts = opts, .photons = a, .shots = shots, .seed = seed},
                occupations);
        const libperm::CurrentCall current(options);
        libperm::BosonTask(a, shots, seed, options).draw(occupations);
        libperm::call().finish();
    });
}
