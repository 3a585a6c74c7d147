// What rank 0 does that no other does: it plans, or takes the plan from the checkpoint, and puts together
// what the shards came to.
#pragma once

#include "capi/mpi/kept_partials.hpp"
#include "capi/mpi/machine_share.hpp"
#include "capi/mpi/shard_job.hpp"
#include "capi/mpi/watch.hpp"

#include <perm.h>

#include <cstdint>
#include <memory>
#include <string>

namespace libperm::mpi {

class Root {
  public:
    Root(const Root &) = delete;
    Root &operator=(const Root &) = delete;
    virtual ~Root() = default;

    Task &task() { return task_; }
    KeptPartials &kept() { return *kept_; }
    std::int64_t shards() const { return shards_; }

    // It was planned for one rank, and they are many. `limit`: the caller's.
    void refuse_what_takes_too_long(double limit, std::int64_t ranks, std::int64_t threads) const;

    // Into the caller's result; on so many threads of all ranks it was computed.
    virtual void combine(const Partials &partials, const void *values, std::int64_t threads) = 0;

  protected:
    Root(const perm_opts &opts, const MachineShare &share, Watch &watch);

    void keep(const std::string &digest); // of what it is of
    void divide(std::int64_t shards, double seconds_of_one);

    // As the library has them.
    static std::vector<perm_partial> view_of(const Partials &partials);

    perm_opts opts_;
    Watch &watch_;
    Task task_;
    std::unique_ptr<KeptPartials> kept_;

  private:
    const std::string checkpoint_;
    const double checkpoint_seconds_;
    std::int64_t shards_ = 1;
    double serial_seconds_ = 0;
};

// Of rank 0's arguments, checked.
std::unique_ptr<Root> plan_root(const perm_csr *a, const perm_opts &opts, perm_result *result,
                                const MachineShare &share, Watch &watch);
std::unique_ptr<Root> estimate_root(const perm_csr *a, const perm_opts &opts,
                                    const perm_estimate_opts *wanted, perm_estimated *estimate,
                                    const MachineShare &share, Watch &watch);

} // namespace libperm::mpi
