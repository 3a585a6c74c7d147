// What rank 0 does that no other does: it makes the task, or takes it from the checkpoint, and puts together
// what the shards came to.
#pragma once

#include "capi/mpi/kept_partials.hpp"
#include "capi/mpi/machine_share.hpp"
#include "capi/mpi/watch.hpp"

#include <perm.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace libperm::mpi {

// What rank 0's caller asks for, its arguments checked. These throw perm::Error and Error.
struct Asked {
    std::function<std::string(const perm_opts &)> save; // the task, made with these options, as bytes
    // The matrix of a task that a checkpoint may go on with; null: the task's bytes must be the same.
    const perm_csr *matrix = nullptr;
    perm_answer answer = PERM_ANSWER_INIT;
};

class Root {
  public:
    Root(Asked asked, const perm_opts &opts, const MachineShare &share, Watch &watch);

    const std::string &task() const { return bytes_; }
    bool is_on_gpu() const { return is_on_gpu_; }
    KeptPartials &kept() { return kept_; }
    std::int64_t shards() const { return shards_; }
    double seconds_plan() const { return seconds_plan_; }

    // It was planned for one rank, and they are many. `limit`: the caller's.
    void refuse_what_takes_too_long(double limit, std::int64_t ranks, std::int64_t threads) const;

    // Into the caller's answer.
    void combine(const Partials &partials);

  private:
    void make();

    const Asked asked_;
    perm_opts opts_;
    Watch &watch_;
    KeptPartials kept_;
    std::string bytes_; // of the task
    bool is_on_gpu_ = false;
    std::int64_t shards_ = 1;
    double serial_seconds_ = 0, seconds_plan_ = 0;
};

} // namespace libperm::mpi
