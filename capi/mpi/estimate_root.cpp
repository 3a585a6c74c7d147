// Rank 0 of perm_mpi_estimate. Every rank plans its estimate for itself, and finds the same.
#include "capi/mpi/root.hpp"
#include "jit/compile/digest.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/base/struct_size.hpp"

#include <cstddef>
#include <string_view>

namespace libperm::mpi {
namespace {

perm_estimate_opts known_wishes(const perm_estimate_opts *wanted) {
    if (!wanted) return PERM_ESTIMATE_OPTS_INIT;
    return read_known(*wanted, sizeof(perm_estimate_opts), "perm_estimate_opts");
}

class EstimateRoot final : public Root {
  public:
    EstimateRoot(const perm_csr *a, const perm_opts &opts, const perm_estimate_opts *wanted,
                 perm_estimated *estimate, const MachineShare &share, Watch &watch)
        : Root(opts, share, watch), wanted_(known_wishes(wanted)), estimate_(estimate) {
        if (!estimate) throw Error(PERM_BAD_ARGUMENT, "the place for the estimate is a null pointer");
        if (estimate->struct_size < sizeof(perm_estimated))
            throw Error(PERM_BAD_ARGUMENT,
                        "perm_estimated.struct_size is too small: start from PERM_ESTIMATED_INIT");
        *estimate = PERM_ESTIMATED_INIT;
        const Input input(a);
        const EstimateTask of(input.csr, opts_, wanted_);
        task_.estimate = written(of);
        task_.values = input.values;
        task_.value_type = input.csr.value_type;
        task_.on_gpu = opts.device && std::string_view(opts.device).starts_with("gpu");
        keep(digest_of_bytes(input.digest + task_.estimate));
        kept_->set_plan("estimate");
        std::int64_t shards = 0;
        double seconds = 0;
        check(perm_estimate_shards(&input.csr, &opts_, &wanted_, &shards, &seconds));
        divide(shards, seconds);
    }

    void combine(const Partials &partials, const void *values, std::int64_t) override {
        const EstimateTask task = own_task();
        const perm_csr a = task.csr(values);
        perm_opts opts = opts_;
        opts.time_limit_seconds = watch_.seconds_left(); // for samples that are still missing
        opts.progress = nullptr;
        const std::vector<perm_partial> all = view_of(partials);
        check(perm_estimate_combine(&a, &opts, &wanted_, all.data(), std::ssize(all), estimate_));
        estimate_->seconds_total = watch_.seconds();
    }

  private:
    EstimateTask own_task() const {
        std::string_view bytes = task_.estimate;
        return read_from<EstimateTask>(bytes);
    }

    const perm_estimate_opts wanted_;
    perm_estimated *const estimate_;
};

} // namespace

std::unique_ptr<Root> estimate_root(const perm_csr *a, const perm_opts &opts,
                                    const perm_estimate_opts *wanted, perm_estimated *estimate,
                                    const MachineShare &share, Watch &watch) {
    return std::make_unique<EstimateRoot>(a, opts, wanted, estimate, share, watch);
}

} // namespace libperm::mpi
