// Rank 0 of perm_mpi_compute.
#include "capi/mpi/root.hpp"
#include "lib/base/error.hpp"
#include "lib/base/json.hpp"

#include <perm.hpp>

#include <string_view>

namespace libperm::mpi {
namespace {

struct Destroy {
    void operator()(perm_plan *plan) const { perm_plan_destroy(plan); }
};

bool is_on_gpu(const perm::Plan &plan) {
    return Json::read(plan.explain(PERM_FORMAT_JSON)).at("device") == "gpu";
}

class PlanRoot final : public Root {
  public:
    PlanRoot(const perm_csr *a, const perm_opts &opts, perm_result *result, const MachineShare &share,
             Watch &watch)
        : Root(opts, share, watch), result_(result) {
        if (!result) throw Error(PERM_BAD_ARGUMENT, "the result is a null pointer");
        check(perm_result_clear(result));
        const Input input(a);
        seconds_check_ = watch_.seconds();
        keep(input.digest);
        task_.plan = kept_->plan().empty() ? planned(input.csr) : kept_->plan();
        kept_->set_plan(task_.plan);
        const perm::Plan plan = perm::Plan::load(task_.plan, opts_);
        plan.check_matrix(input.csr); // that of a checkpoint may say anything
        task_.on_gpu = is_on_gpu(plan);
        task_.values = input.values;
        task_.value_type = input.csr.value_type;
        divide(plan.shards(), plan.shard_seconds());
        seconds_plan_ = watch_.seconds() - seconds_check_;
    }

    void combine(const Partials &partials, const void *values, std::int64_t threads) override {
        perm_opts opts = opts_;
        opts.time_limit_seconds = watch_.seconds_left(); // for a second run
        opts.progress = nullptr;                         // its caller has been told that all is done
        perm_plan *loaded = nullptr;
        check(perm_plan_load(task_.plan.data(), task_.plan.size(), &opts, &loaded));
        const std::unique_ptr<perm_plan, Destroy> plan(loaded);
        const std::vector<perm_partial> all = view_of(partials);
        check(perm_plan_combine(plan.get(), values, all.data(), std::ssize(all), result_));
        result_->threads = static_cast<std::int32_t>(threads);
        result_->seconds_check = seconds_check_;
        result_->seconds_plan = seconds_plan_;
        result_->seconds_total = watch_.seconds();
        result_->seconds_run = result_->seconds_total - seconds_check_ - seconds_plan_;
    }

  private:
    // Saved. On which of a machine's GPUs a rank is to run can only be told to a plan for GPUs.
    std::string planned(const perm_csr &a) {
        perm::Plan plan(a, opts_);
        const bool is_automatic = !opts_.device || std::string_view(opts_.device) == "auto";
        if (is_automatic && is_on_gpu(plan)) {
            opts_.device = "gpu";
            plan = perm::Plan(a, opts_);
        }
        return plan.save();
    }

    perm_result *const result_;
    double seconds_check_ = 0, seconds_plan_ = 0;
};

} // namespace

std::unique_ptr<Root> plan_root(const perm_csr *a, const perm_opts &opts, perm_result *result,
                                const MachineShare &share, Watch &watch) {
    return std::make_unique<PlanRoot>(a, opts, result, share, watch);
}

} // namespace libperm::mpi
