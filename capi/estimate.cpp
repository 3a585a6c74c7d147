// perm_estimate, at once and in shards (lib/estimates).
#include "capi/boundary.hpp"
#include "capi/interval_beside.hpp"
#include "capi/one_call.hpp"
#include "capi/partials.hpp"
#include "capi/stopwatch.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/estimates/estimate_shards.hpp"
#include "lib/estimates/kept_estimate.hpp"
#include "lib/estimates/plan_estimate.hpp"
#include "lib/samples/sample_devices.hpp"

#include <perm.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr perm_estimated no_estimate = PERM_ESTIMATED_INIT;

void require_place(const perm_estimated *estimate) {
    if (!estimate) throw libperm::Error(PERM_BAD_ARGUMENT, "the place for the estimate is a null pointer");
    if (estimate->struct_size < sizeof(perm_estimated))
        throw libperm::Error(PERM_BAD_ARGUMENT,
                             "perm_estimated.struct_size is too small: start from PERM_ESTIMATED_INIT");
}

// Parts of one exponent.
void put_value(const libperm::MatrixEstimate &found, perm_estimated &estimate) {
    using libperm::Scaled;
    const Scaled &re = found.re, &im = found.im;
    estimate.re = to_double(re);
    estimate.im = to_double(im);
    const std::int64_t exp2 = im.mantissa == 0 || (re.mantissa != 0 && re.exp2 > im.exp2) ? re.exp2 : im.exp2;
    const auto mantissa = [exp2](const Scaled &x) {
        return x.mantissa == 0 || exp2 - x.exp2 > 1100
                   ? 0
                   : libperm::to_double(libperm::Scaled{x.mantissa, x.exp2 - exp2});
    };
    estimate.mantissa_re = mantissa(re);
    estimate.mantissa_im = mantissa(im);
    estimate.exp2 = exp2;
}

void put(const libperm::MatrixEstimate &found, perm_estimated &estimate) {
    put_value(found, estimate);
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

// The last one that was planned: the shards of one follow each other.
class LastPlan {
  public:
    using Plan = std::shared_ptr<const libperm::EstimatePlan>;

    // make() plans; others that ask for it wait meanwhile, and poll.
    template <class Make>
    Plan find(const libperm::EstimateIdentity &identity, libperm::RunControl &control, const Make &make) {
        constexpr std::int64_t most_bytes = 1 << 28;
        std::unique_lock lock(mutex_, std::defer_lock);
        while (!lock.try_lock_for(std::chrono::milliseconds(20))) control.poll();
        if (plan_ && identity_ == identity) return plan_;
        plan_.reset();
        Plan made = make();
        if (made->bytes() > most_bytes) return made;
        identity_ = identity;
        return plan_ = std::move(made);
    }

    void forget() {
        const std::lock_guard lock(mutex_);
        plan_.reset();
    }

    static LastPlan &here() {
        static LastPlan last;
        return last;
    }

  private:
    std::timed_mutex mutex_;
    libperm::EstimateIdentity identity_;
    Plan plan_;
};

enum class Keeping { nothing, plan };

// A call's matrix, and how it is estimated.
class Estimation {
    template <class Work> auto in_threads(const Work &work) {
        decltype(work()) out;
        libperm::with_threads(options_.threads, [&] { out = work(); });
        return out;
    }

  public:
    Estimation(const perm_csr *a, const libperm::Options &options, const libperm::EstimateRequest &request,
               Keeping keeping)
        : options_(options), control_(options), input_(capi::pattern_for(control_, a)) {
        libperm::Values values = capi::values_for(control_, input_, libperm::GivenValues(input_, *a).data());
        libperm::simplify(input_, values);
        identity_ = libperm::EstimateIdentity(input_, values, options_, request);
        const auto make = [&] {
            LastPlan::Plan made;
            libperm::with_threads(options_.threads, [&] {
                made = libperm::plan_estimate(input_, values, options_, request, control_);
            });
            return made;
        };
        plan_ = keeping == Keeping::plan ? LastPlan::here().find(identity_, control_, make) : make();
        held_ = libperm::Charge(&control_.memory(), plan_->bytes());
    }

    const libperm::EstimatePlan &plan() const { return *plan_; }

    libperm::MatrixEstimate run(const libperm::EstimatePlan::Told &told) {
        const libperm::SamplesDrawn drawn = drawn_where(1);
        return in_threads([&] {
            return libperm::run_kept(*plan_, identity_, input_, options_, drawn.devices.get(), control_,
                                     told);
        });
    }

    std::string run_shard(std::int64_t number) {
        const libperm::SamplesDrawn drawn = drawn_where(1 / static_cast<double>(plan_->shards().count));
        return in_threads([&] {
            return libperm::run_estimate_shard(*plan_, identity_, number, drawn.devices.get(), control_);
        });
    }

    libperm::MatrixEstimate combine(std::span<const std::string_view> partials,
                                    const libperm::EstimatePlan::Told &told) {
        return in_threads(
            [&] { return libperm::combine_estimate(*plan_, identity_, partials, control_, told); });
    }

  private:
    // Such a share of the samples; refused where that is predicted to take too long.
    libperm::SamplesDrawn drawn_where(double share) const {
        const auto on_gpu = [&](const libperm::GpuProperties &gpu) { return share * plan_->seconds_on(gpu); };
        const double seconds = share * plan_->seconds();
        libperm::SamplesDrawn drawn = plan_->may_be_on_gpu()
                                          ? libperm::choose_device(seconds, on_gpu, options_)
                                          : libperm::SamplesDrawn{nullptr, seconds / options_.threads};
        plan_->refuse_if_longer(drawn.seconds, options_);
        return drawn;
    }

    const libperm::Options &options_;
    libperm::RunControl control_;
    libperm::InputPattern input_;
    libperm::EstimateIdentity identity_;
    LastPlan::Plan plan_;
    libperm::Charge held_;
};

// work(Estimation &); a refusal tells the interval.
template <class Work>
void estimating(libperm::Call call, const perm_csr *a, const perm_opts *opts,
                const perm_estimate_opts *estimate_opts, Keeping keeping, const Work &work) {
    const libperm::Options options = libperm::read_options(opts, call);
    const libperm::EstimateRequest request = libperm::read_request(estimate_opts);
    const auto estimate = [&] {
        Estimation estimation(a, options, request, keeping);
        work(estimation);
    };
    capi::telling_interval(options, estimate, a);
}

// What is known so far stands in the estimate while the call runs, and what was found when it returns.
void fill(perm_estimated &estimate,
          const std::function<libperm::MatrixEstimate(const libperm::EstimatePlan::Told &)> &find) {
    capi::Stopwatch watch;
    try {
        put(find([&](const libperm::MatrixEstimate &found) { put(found, estimate); }), estimate);
    } catch (...) {
        estimate = no_estimate;
        throw;
    }
    estimate.seconds_total = watch.lap();
}

} // namespace

extern "C" {

perm_status perm_estimate(const perm_csr *a, const perm_opts *opts, const perm_estimate_opts *estimate_opts,
                          perm_estimated *estimate) {
    return capi::guarded([&] {
        require_place(estimate);
        *estimate = no_estimate;
        fill(*estimate, [&](const libperm::EstimatePlan::Told &told) {
            libperm::MatrixEstimate found;
            estimating(libperm::Call::estimate, a, opts, estimate_opts, Keeping::nothing,
                       [&](Estimation &estimation) { found = estimation.run(told); });
            return found;
        });
    });
}

perm_status perm_estimate_shards(const perm_csr *a, const perm_opts *opts,
                                 const perm_estimate_opts *estimate_opts, int64_t *count, double *seconds) {
    return capi::guarded([&] {
        if (!count) throw libperm::Error(PERM_BAD_ARGUMENT, "the place for the count is a null pointer");
        *count = 0;
        if (seconds) *seconds = 0;
        estimating(libperm::Call::estimate_run_shard, a, opts, estimate_opts, Keeping::plan,
                   [&](const Estimation &estimation) {
                       const libperm::ShardCount shards = estimation.plan().shards();
                       *count = shards.count;
                       if (seconds) *seconds = shards.seconds;
                   });
    });
}

perm_status perm_estimate_run_shard(const perm_csr *a, const perm_opts *opts,
                                    const perm_estimate_opts *estimate_opts, int64_t number,
                                    perm_partial *partial) {
    return capi::guarded([&] {
        perm_partial &place = capi::cleared(partial);
        estimating(libperm::Call::estimate_run_shard, a, opts, estimate_opts, Keeping::plan,
                   [&](Estimation &estimation) { capi::put(estimation.run_shard(number), place); });
    });
}

perm_status perm_estimate_combine(const perm_csr *a, const perm_opts *opts,
                                  const perm_estimate_opts *estimate_opts, const perm_partial *partials,
                                  int64_t count, perm_estimated *estimate) {
    return capi::guarded([&] {
        require_place(estimate);
        *estimate = no_estimate;
        const std::vector<std::string_view> all = capi::bytes_of(partials, count);
        fill(*estimate, [&](const libperm::EstimatePlan::Told &told) {
            libperm::MatrixEstimate found;
            estimating(libperm::Call::estimate_run_shard, a, opts, estimate_opts, Keeping::plan,
                       [&](Estimation &estimation) { found = estimation.combine(all, told); });
            return found;
        });
        LastPlan::here().forget();
    });
}

} // extern "C"
