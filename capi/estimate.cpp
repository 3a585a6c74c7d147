// Estimates (lib/estimates): as a task, and the functions that make it for one thing alone.
#include "capi/boundary.hpp"
#include "capi/interval_beside.hpp"
#include "capi/one_call.hpp"
#include "capi/partials.hpp"
#include "capi/stopwatch.hpp"
#include "capi/task_kinds.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/estimates/estimate_task.hpp"
#include "lib/estimates/request.hpp"
#include "lib/tape/tape_run.hpp"

#include <perm.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr perm_estimated no_estimate = PERM_ESTIMATED_INIT;

void put(const libperm::MatrixEstimate &found, perm_estimated &estimate) {
    const libperm::Answer value = libperm::answer_of(libperm::TapeAnswer{found.re, found.im, {}}, false);
    estimate.re = value.re;
    estimate.im = value.im;
    estimate.mantissa_re = value.mantissa_re;
    estimate.mantissa_im = value.mantissa_im;
    estimate.exp2 = value.exp2;
    estimate.lower_mantissa = found.lower.mantissa;
    estimate.lower_exp2 = found.lower.exp2;
    estimate.upper_mantissa = found.upper.mantissa;
    estimate.upper_exp2 = found.upper.exp2;
    estimate.error_mantissa = found.error.mantissa;
    estimate.error_exp2 = found.error.exp2;
    estimate.epsilon = found.epsilon;
    estimate.delta = found.delta;
    estimate.exact = found.exact ? 1 : 0;
    estimate.additive = found.additive ? 1 : 0;
    estimate.samples = found.samples;
    estimate.accepted = found.accepted;
    estimate.method = found.method;
    estimate.blocks = found.blocks;
    estimate.blocks_exact = found.blocks_exact;
    estimate.seconds_plan = found.seconds_plan;
}

// What is known so far stands in the estimate while the call runs, and what was found when it returns.
template <class Find> void fill(perm_estimated &estimate, const Find &find) {
    capi::Stopwatch watch;
    try {
        put(find([&](const libperm::MatrixEstimate &found) { put(found, estimate); }), estimate);
    } catch (...) {
        estimate = no_estimate;
        throw;
    }
    estimate.seconds_total = watch.lap();
}

class EstimateTask final : public perm_task {
  public:
    // The matrix must outlive it.
    EstimateTask(const perm_csr *a, const perm_opts *opts, const perm_estimate_opts *wanted)
        : options_(libperm::read_options(opts, libperm::Call::estimate)), a_(a) {
        make(libperm::read_request(wanted), nullptr);
    }
    // What is told in `source` is, and the matrix is kept there.
    EstimateTask(const perm_csr *a, const perm_opts *opts, const perm_estimate_opts *wanted,
                 capi::TaskSource source)
        : options_(libperm::read_options(opts, libperm::Call::estimate)), source_(std::move(source)), a_(a) {
        source_.kind = libperm::TaskIdentity::estimate;
        make(libperm::read_request(wanted), &source_);
        csr_ = source_.matrix.csr();
        a_ = &csr_;
    }

    capi::Room room() const override { return {.estimate = true}; }
    void run(const perm_answer &answer) const override {
        answered(*answer.estimate, [&](libperm::RunControl &control, const Told &told) {
            return libperm::run_kept(*task_, options_, control, told);
        });
    }
    void combine(std::span<const std::string_view> partials, const perm_answer &answer) const override {
        libperm::require_counting(options_, shard_call());
        answered(*answer.estimate, [&](libperm::RunControl &control, const Told &told) {
            return libperm::combine(*task_, partials, control, told);
        });
    }
    std::string saved() const override { return source_.bytes(); }
    std::string difference(const perm_csr &a) const override { return source_.difference(a); }

  protected:
    const libperm::Options &options() const override { return options_; }
    libperm::Call shard_call() const override { return libperm::Call::estimate_shards; }
    void with_task(libperm::RunControl &, const Work &work) const override { work(*task_); }
    void telling_interval(const std::function<void()> &work) const override {
        capi::telling_interval(options_, work, a_);
    }

  private:
    using Told = libperm::EstimateTask::Told;

    void make(const libperm::EstimateRequest &request, capi::TaskSource *source) {
        call_ = std::make_unique<libperm::RunControl>(options_);
        telling_interval([&] {
            libperm::RunControl &control = *call_;
            libperm::InputPattern input = capi::pattern_for(control, a_);
            if (source) source->take(*a_, input);
            libperm::Values values =
                capi::values_for(control, input, libperm::GivenValues(input, *a_).data());
            libperm::with_threads(options_.threads, [&] {
                task_ = libperm::EstimateTask::of(std::move(input), std::move(values), options_, request,
                                                  control);
            });
        });
    }

    template <class Find> void answered(perm_estimated &place, const Find &find) const {
        fill(place, [&](const Told &told) {
            libperm::MatrixEstimate found;
            controlled([&](libperm::RunControl &control) {
                telling_interval(
                    [&] { libperm::with_threads(options_.threads, [&] { found = find(control, told); }); });
            });
            return found;
        });
    }

    const libperm::Options options_;
    capi::TaskSource source_;
    const perm_csr *a_;
    perm_csr csr_ = PERM_CSR_INIT;
    std::unique_ptr<const libperm::EstimateTask> task_;
};

perm_answer into(perm_estimated &estimate) {
    perm_answer answer = PERM_ANSWER_INIT;
    answer.estimate = &estimate;
    return answer;
}

} // namespace

namespace capi {

void require_place(const perm_estimated *estimate) {
    if (!estimate) throw libperm::Error(PERM_BAD_ARGUMENT, "the place for the estimate is a null pointer");
    if (estimate->struct_size < sizeof(perm_estimated))
        throw libperm::Error(PERM_BAD_ARGUMENT,
                             "perm_estimated.struct_size is too small: start from PERM_ESTIMATED_INIT");
}

std::unique_ptr<perm_task> estimate_task(const perm_csr *a, const perm_opts *opts,
                                         const perm_estimate_opts *wanted) {
    TaskSource source;
    source.take(opts);
    source.take(wanted);
    return std::make_unique<EstimateTask>(a, opts, wanted, std::move(source));
}

std::unique_ptr<perm_task> estimate_task(const TaskSource &source, const perm_opts *opts) {
    const perm_opts all = source.options(opts);
    const perm_estimate_opts wanted = source.wanted();
    const perm_csr a = source.matrix.csr();
    return std::make_unique<EstimateTask>(&a, &all, &wanted, source);
}

} // namespace capi

extern "C" {

perm_status perm_estimate(const perm_csr *a, const perm_opts *opts, const perm_estimate_opts *estimate_opts,
                          perm_estimated *estimate) {
    return capi::guarded([&] {
        capi::require_place(estimate);
        *estimate = no_estimate;
        capi::Stopwatch watch;
        const EstimateTask task(a, opts, estimate_opts);
        task.run(into(*estimate));
        estimate->seconds_total = watch.lap();
    });
}

} // extern "C"
