// What the ranks share out: a plan's shards, or those of an estimate.
#pragma once

#include "capi/command/estimate_wish.hpp"
#include "capi/mpi/communicator.hpp"
#include "capi/mpi/input.hpp"

#include <perm.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace libperm::mpi {

// Of one rank. Calls throw perm::Error.
class ShardJob {
  public:
    ShardJob() = default;
    ShardJob(const ShardJob &) = delete;
    ShardJob &operator=(const ShardJob &) = delete;
    virtual ~ShardJob() = default;

    virtual std::int64_t shards() const = 0;
    virtual double shard_seconds() const = 0;
    virtual std::string run_shard(std::int64_t number) const = 0;
    virtual double fraction_of_shard(double told) const = 0; // as the library tells its progress
};
using MakeJob = std::function<std::unique_ptr<const ShardJob>(const perm_opts &)>;

// A matrix and how it is estimated, but for its values.
struct EstimateTask {
    std::int64_t n_rows = 0, n_cols = 0, value_type = 0, row_weights = 0, col_weights = 0;
    std::vector<std::int64_t> row_ptr, col_idx, row_multiplicity, col_multiplicity;
    perm::EstimateWish wish;

    EstimateTask() = default;
    EstimateTask(const perm_csr &a, const perm_opts &opts, const perm_estimate_opts &wanted);

    // Valid as long as this is, and the values.
    perm_csr csr(const void *values) const;

    template <class Archive> void serialize(Archive &ar) {
        ar(n_rows, n_cols, value_type, row_weights, col_weights, row_ptr, col_idx, row_multiplicity,
           col_multiplicity, wish);
    }
};

// What all ranks are told before they begin.
struct Task {
    std::string plan, estimate; // as bytes: one of both
    std::string values;         // as bytes
    std::int64_t value_type = PERM_VALUE_F64, on_gpu = 0;

    void broadcast(const Communicator &comm); // collective
};

// The task and the values must outlive it.
std::unique_ptr<const ShardJob> job_of(const Task &task, const ValueView &values, const perm_opts &opts);

} // namespace libperm::mpi
