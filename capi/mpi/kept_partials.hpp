// The checkpoint of a run by many ranks: the task, and the partial results that rank 0 has. It is a file as
// others' checkpoints are (lib/run/kept_pieces.hpp), whose pieces are whole shards.
#pragma once

#include "capi/mpi/shard_hub.hpp"
#include "lib/base/json.hpp"
#include "lib/run/kept_pieces.hpp"

#include <chrono>
#include <string>

namespace libperm::mpi {

class KeptPartials {
  public:
    // Goes on from the file, or, if it is torn, from the one before. file "": nothing is kept.
    // Throws Error (PERM_BAD_OPTION) where it is no such file.
    KeptPartials(std::string file, double seconds_between);

    bool is_wanted() const { return !file_.empty(); }
    const std::string &task() const { return kept_.plan; } // saved; "": none was kept
    [[noreturn]] void fail_foreign() const;
    // Throws Error where it holds others than those of a task with so many.
    void require_of(std::int64_t shards) const;

    // The task that is gone on with, and what perm_task_explain says of it.
    void begin(const std::string &task, const Json &about);

    Partials take_partials() { return std::move(partials_); }

    void write_if_due(const Partials &partials);
    bool write(const Partials &partials); // what keeps it from being written is logged

  private:
    using Clock = std::chrono::steady_clock;

    std::string file_;
    double seconds_between_;
    KeptTask kept_; // but for the pieces
    std::int64_t shards_ = 1;
    bool is_torn_ = false; // the file, and what was read is the one before
    Partials partials_;
    std::size_t written_count_ = 0;
    double seconds_before_ = 0;
    Clock::time_point start_ = Clock::now(), written_ = start_;
};

} // namespace libperm::mpi
