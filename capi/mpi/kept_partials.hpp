// The checkpoint of a run by many ranks: the plan and the partial results that rank 0 has.
#pragma once

#include "capi/mpi/shard_hub.hpp"

#include <chrono>
#include <string>

namespace libperm::mpi {

class KeptPartials {
  public:
    // Goes on from the file, or, if it is torn, from the one before. file "": nothing is kept.
    // Throws Error (PERM_BAD_OPTION) where it is of another matrix, or is no such file.
    KeptPartials(std::string file, double seconds_between, const std::string &digest);

    bool is_wanted() const { return !file_.empty(); }
    const std::string &plan() const { return plan_; } // saved; "": none was kept
    void set_plan(std::string plan) { plan_ = std::move(plan); }
    // Throws Error where it holds others than those of a plan with so many.
    void require_of(std::int64_t shards) const;

    Partials take_partials() { return std::move(partials_); }

    void write_if_due(const Partials &partials);
    bool write(const Partials &partials); // what keeps it from being written is logged

  private:
    using Clock = std::chrono::steady_clock;

    std::string file_;
    double seconds_between_;
    std::string digest_, plan_;
    bool is_torn_ = false; // the file, and what was read is the one before
    Partials partials_;
    std::size_t written_count_ = 0;
    Clock::time_point written_ = Clock::now();
};

} // namespace libperm::mpi
